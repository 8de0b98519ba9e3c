#pragma once

#include <string>

#include "api/python/src/device_array.hpp"
#include "core/operators/operator_description.hpp"
#include "troupe/operators/tensor.hpp"

/// What Python code gives operators, as these take it. Mistakes raise TypeError or 107000.
namespace troupe::python {

/// The dtype of elements that an operator gives.
[[nodiscard]] py::dtype dtype_of(element_type wanted);

[[nodiscard]] tensor_layout layout_of(const device_array& array);

/// A view: it does not keep the memory.
[[nodiscard]] tensor tensor_of(const device_array& array);

/// An argument of an operator as an array.
[[nodiscard]] const device_array& array_of(const py::handle& given);

/// The operator by its name and attributes; no layouts yet.
[[nodiscard]] operator_description describe_call(const std::string& name,
                                                 const py::dict& attributes);

} // namespace troupe::python
