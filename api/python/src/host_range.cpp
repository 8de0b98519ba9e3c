#include "api/python/src/host_range.hpp"

#include <memory>

#include <pybind11/numpy.h>

#include "api/python/src/failure.hpp"

namespace troupe::python {
namespace {

// A memoryview is the owner: while one exists what it views cannot move or shrink.
py::object view_of(const py::object& given) {
  auto* made = PyMemoryView_FromObject(given.ptr());
  if (made == nullptr) {
    PyErr_Clear();
    throw py::type_error(
        "host memory is a numpy array or another object with the buffer protocol, not " +
        py::repr(py::type::handle_of(given)).cast<std::string>());
  }
  return py::reinterpret_steal<py::object>(made);
}

host_range range_of(py::object view) {
  const auto& buffer = *PyMemoryView_GET_BUFFER(view.ptr());
  if (buffer.format != nullptr && std::string(buffer.format).find('O') != std::string::npos) {
    refuse("elements that are Python objects cannot be copied to or from a device");
  }
  auto* data = static_cast<std::byte*>(buffer.buf);
  return {std::move(view), data, static_cast<std::size_t>(buffer.len)};
}

bool is_contiguous(const py::object& view) {
  return PyBuffer_IsContiguous(PyMemoryView_GET_BUFFER(view.ptr()), 'C') != 0;
}

} // namespace

host_range readable(const py::object& given) {
  auto view = view_of(given);
  if (is_contiguous(view)) return range_of(std::move(view));
  return range_of(view_of(py::module_::import("numpy").attr("ascontiguousarray")(given)));
}

host_range writable(const py::object& given) {
  auto view = view_of(given);
  if (PyMemoryView_GET_BUFFER(view.ptr())->readonly != 0) refuse("the target array is read-only");
  if (!is_contiguous(view)) refuse("the target array is not contiguous in C's order");
  return range_of(std::move(view));
}

host_range snapshot(const host_range& given) {
  const py::bytes copied(reinterpret_cast<const char*>(given.data), given.bytes);
  return range_of(view_of(copied));
}

} // namespace troupe::python
