#pragma once

#include <type_traits>
#include <utility>

#include <cxxabi.h>
#include <pybind11/pybind11.h>

/// How the module and the runtime's threads share Python's lock (the GIL).
///
/// Three rules make deadlocks impossible: every call of the runtime that may wait or submit is made
/// without the GIL; the runtime's threads take it only to run a kernel or callback written in
/// Python, with no lock of the runtime in their hands; and who lets go of a Python object elsewhere
/// takes no GIL for it (`object_ref`).
///
/// When the interpreter has ended it ends the threads that ask for the GIL, wherever they are. Such
/// a thread is parked instead: it may have frames of the runtime below it, which must not be
/// unwound.
namespace troupe::python {

namespace py = pybind11;

/// False once the interpreter's end has begun and all runtimes have been shut down: Python objects
/// are not touched any more.
[[nodiscard]] bool python_is_open() noexcept;
void close_python() noexcept;

/// The calling thread ends the interpreter: what other threads of Python still call is refused.
void begin_python_end() noexcept;

/// Whether another thread does so, and this one is a thread of Python and none of the runtime's.
[[nodiscard]] bool python_ends_elsewhere() noexcept;

/// Ends no more: the process is about to end.
[[noreturn]] void park_thread() noexcept;

/// Takes the GIL back for the thread state `saved`.
void take_gil_back(PyThreadState* saved);

/// Runs `f` without the GIL, which the caller holds. Where the interpreter has ended there is
/// nobody to give it to.
template <class F>
auto without_gil(F&& f) {
  using value = std::invoke_result_t<F>;
  if (!python_is_open()) return f();
  auto* saved = PyEval_SaveThread();
  try {
    if constexpr (std::is_void_v<value>) {
      f();
      take_gil_back(saved);
    } else {
      auto made = f();
      take_gil_back(saved);
      return made;
    }
  } catch (abi::__forced_unwind&) {
    throw;
  } catch (...) {
    take_gil_back(saved);
    throw;
  }
}

/// The GIL for a thread of the runtime, or of any kind; may be nested. A thread keeps its Python
/// state until it ends, as making one takes longer than a small kernel.
class gil_entry {
public:
  gil_entry();
  ~gil_entry();
  gil_entry(const gil_entry&) = delete;
  gil_entry& operator=(const gil_entry&) = delete;

private:
  bool taken_ = false;
};

/// Calls `function(*arguments)` with the GIL held: a new reference, or null with the error set.
[[nodiscard]] PyObject* call_python(PyObject* function, PyObject* arguments);

} // namespace troupe::python
