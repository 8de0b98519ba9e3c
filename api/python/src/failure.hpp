#pragma once

#include <memory>
#include <string>

#include "api/python/src/object_ref.hpp"
#include "core/status.hpp"

/// Failures of the runtime as exceptions of `runtime.errors`, and exceptions of Python as failures.
namespace troupe::python {

/// The exception for `failed`, an instance of a class of `runtime.errors` by its code: with code,
/// message, origin and cause, and where a kernel written in Python raised, what it raised.
[[nodiscard]] py::object make_exception(const status& failed);

/// Raises `make_exception(outcome)` unless that is a success. Once the interpreter's end has begun
/// a daemon thread gets SystemExit instead, which ends it without a word.
void check(const status& outcome);

template <class T>
[[nodiscard]] T take(result<T> got) {
  if (!got) check(got.error());
  return std::move(got).value();
}

/// Whether Python code was told of that failure: by an exception, or by `Stream.failures`.
[[nodiscard]] bool was_told(const status& failed);

/// Raises 107000 with this message.
[[noreturn]] void refuse(std::string message);

/// The exception that is set in Python, taken from there, as a failure of code `what` that keeps
/// it. `stream` is where the kernel was launched, or 0.
[[nodiscard]] status take_python_error(code what, std::uint64_t stream);

/// An exception of Python on its way through C++ code that does not know Python.
class python_error : public std::runtime_error {
public:
  explicit python_error(py::object raised);

  /// Sets it in Python again.
  void restore() const;

private:
  std::shared_ptr<object_ref> raised_;
};

/// Takes the exception that is set in Python and throws it as `python_error`.
[[noreturn]] void throw_python_error();

/// Has pybind11 know the exceptions above.
void bind_failures(py::module_& m);

} // namespace troupe::python
