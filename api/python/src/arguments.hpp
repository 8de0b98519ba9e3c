#pragma once

#include <cstdint>
#include <string>

#include "api/python/src/failure.hpp"

/// What Python code gives, as what C++ code takes. Each raises an exception that names parameter,
/// what was given, and what is wanted: TypeError for the wrong kind, 107000 for the wrong value.
namespace troupe::python {

/// `repr(given)`, cut where it is long.
[[nodiscard]] std::string shown(const py::handle& given);

/// Raises TypeError: "NAME is WANTED, not GIVEN".
[[noreturn]] void refuse_type(const char* name, const char* wanted, const py::handle& given);

/// The object of class `T` that was given.
template <class T>
[[nodiscard]] T& to(const py::handle& given, const char* name, const char* wanted) {
  py::detail::make_caster<T> found;
  if (!found.load(given, false)) refuse_type(name, wanted, given);
  return py::detail::cast_op<T&>(found);
}

/// Whatever counts as an index in Python, of at most 64 bits.
[[nodiscard]] std::int64_t to_index(const py::handle& given, const char* name);

/// The same, from 0.
[[nodiscard]] std::uint64_t to_count(const py::handle& given, const char* name);

[[nodiscard]] std::string to_text(const py::handle& given, const char* name);

[[nodiscard]] double to_number(const py::handle& given, const char* name);

} // namespace troupe::python
