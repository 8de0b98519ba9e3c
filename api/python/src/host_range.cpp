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

std::optional<py::dtype> unless_bytes(py::dtype type) {
  const bool plain = type.is(py::dtype::of<std::uint8_t>()) ||
                     (type.kind() == 'V' && !type.has_fields());
  if (plain) return std::nullopt;
  return type;
}

std::string text_of(const py::dtype& type, std::size_t bytes) {
  const auto size = static_cast<std::size_t>(type.itemsize());
  return std::to_string(bytes / size) + " elements of " +
         py::str(static_cast<const py::object&>(type)).cast<std::string>();
}

} // namespace

std::optional<py::dtype> element_type_of(const py::object& given) {
  if (py::isinstance<py::array>(given)) return unless_bytes(py::array(given).dtype());
  const auto view = view_of(given);
  const auto* format = PyMemoryView_GET_BUFFER(view.ptr())->format;
  if (format == nullptr || std::string(format) == "B") return std::nullopt;
  return unless_bytes(py::array(py::module_::import("numpy").attr("asarray")(view)).dtype());
}

std::optional<py::dtype> element_type_of(const device_array& given) {
  return unless_bytes(given.type());
}

void expect_alike(const std::optional<py::dtype>& target, std::size_t target_bytes,
                  const std::optional<py::dtype>& source, std::size_t source_bytes) {
  if (!target || !source) return;
  const bool one_type = target->is(*source) || target->equal(*source);
  if (one_type && target_bytes == source_bytes) return;
  refuse("the target has " + text_of(*target, target_bytes) + ", the source " +
         text_of(*source, source_bytes) +
         (one_type ? "; a part is copied by a slice, as x[:n], and" : "; convert it before;") +
         " bytes whatever they mean by a view, as x.view('uint8')");
}

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
