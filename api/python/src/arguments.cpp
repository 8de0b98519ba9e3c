#include "api/python/src/arguments.hpp"

namespace troupe::python {
namespace {

constexpr py::ssize_t shown_max = 120;

} // namespace

std::string shown(const py::handle& given) {
  const auto whole = py::repr(given);
  if (py::len(whole) <= static_cast<std::size_t>(shown_max)) {
    return whole.attr("encode")("utf-8", "backslashreplace").cast<std::string>();
  }
  const auto cut = whole[py::slice(0, shown_max, 1)];
  return cut.attr("encode")("utf-8", "backslashreplace").cast<std::string>() + "...";
}

void refuse_type(const char* name, const char* wanted, const py::handle& given) {
  throw py::type_error(std::string(name) + " is " + wanted + ", not " + shown(given));
}

std::int64_t to_index(const py::handle& given, const char* name) {
  if (PyIndex_Check(given.ptr()) == 0) refuse_type(name, "a whole number", given);
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(given.ptr()));
  if (!number) throw py::error_already_set();
  int overflow = 0;
  const auto made = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0) refuse(std::string(name) + " is " + shown(number) + ", beyond 64 bits");
  return made;
}

std::uint64_t to_count(const py::handle& given, const char* name) {
  const auto made = to_index(given, name);
  if (made < 0) refuse(std::string(name) + " is " + std::to_string(made) + "; 0 or more");
  return static_cast<std::uint64_t>(made);
}

std::string to_text(const py::handle& given, const char* name) {
  if (PyUnicode_Check(given.ptr()) == 0) refuse_type(name, "a str", given);
  Py_ssize_t length = 0;
  const auto* text = PyUnicode_AsUTF8AndSize(given.ptr(), &length);
  if (text == nullptr) throw py::error_already_set();
  return {text, static_cast<std::size_t>(length)};
}

double to_number(const py::handle& given, const char* name) {
  if (PyFloat_Check(given.ptr()) == 0 && PyIndex_Check(given.ptr()) == 0 &&
      !py::hasattr(given, "__float__")) {
    refuse_type(name, "a number", given);
  }
  const auto made = PyFloat_AsDouble(given.ptr());
  if (made == -1.0 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return made;
}

} // namespace troupe::python
