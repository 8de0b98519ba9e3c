#pragma once

#include <optional>
#include <string>

#include "api/python/src/gil.hpp"

namespace troupe::python {

/// The kernel that Python code registered under `name`, for this process. With the GIL.
[[nodiscard]] std::optional<py::object> find_kernel(const std::string& name);

void bind_registry(py::module_& m);

} // namespace troupe::python
