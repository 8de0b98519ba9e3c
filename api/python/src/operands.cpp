#include "api/python/src/operands.hpp"

#include <array>
#include <utility>

namespace troupe::python {
namespace {

constexpr std::array<std::pair<const char*, element_type>, 5> element_types{
    {{"float32", element_type::f32},
     {"float16", element_type::f16},
     {"int32", element_type::s32},
     {"int8", element_type::s8},
     {"uint8", element_type::u8}}};

element_type type_of(const py::dtype& given) {
  const auto name = given.attr("name").cast<std::string>();
  for (const auto& [known, type] : element_types) {
    if (name == known) return type;
  }
  refuse("operators take float32, float16, int32, int8 and uint8, not " + name);
}

// Bool, whole numbers, numbers, and sequences of whole numbers.
operator_attribute attribute_of(const py::handle& value) {
  if (PyIndex_Check(value.ptr()) != 0) return to_index(value, "an attribute");
  if (PyFloat_Check(value.ptr()) != 0) return value.cast<double>();
  const auto items = py::reinterpret_steal<py::list>(PySequence_List(value.ptr()));
  if (!items) {
    PyErr_Clear();
    refuse_type("an attribute", "a number or a sequence of whole numbers", value);
  }
  dimensions made;
  for (const auto& each : items) made.push_back(to_index(each, "an attribute's number"));
  return made;
}

} // namespace

py::dtype dtype_of(element_type wanted) {
  for (const auto& [name, type] : element_types) {
    if (type == wanted) return py::dtype(name);
  }
  refuse("numpy has no dtype for " + std::string(to_string(wanted)));
}

tensor_layout layout_of(const device_array& array) {
  const auto& shape = array.shape();
  return take(tensor_layout::make(type_of(array.type()), dimensions(shape.begin(), shape.end())));
}

tensor tensor_of(const device_array& array) {
  const auto context = array.memory()->home()->home().id();
  return take(tensor::view({array.data(), array.bytes(), context}, layout_of(array)));
}

const device_array& array_of(const py::handle& given) {
  return to<const device_array>(given, "an operator's argument", "a DeviceArray");
}

operator_description describe_call(const std::string& name, const py::dict& attributes) {
  operator_description made;
  made.name = name;
  for (const auto& [key, value] : attributes) {
    made.attributes[to_text(key, "an attribute's name")] = attribute_of(value);
  }
  return made;
}

} // namespace troupe::python
