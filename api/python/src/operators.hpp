#pragma once

#include <string>

#include "api/python/src/work_stream.hpp"

namespace troupe::python {

/// Submits the operator `name` to `on`: all arguments are its inputs, but for the last one, which
/// is its output. Raises 507027 if there is none of that name.
void launch_operator(work_stream& on, const std::string& name, const py::object& arguments);

/// `apply_operator`, behind the module `ops_nn`.
void bind_operators(py::module_& m);

} // namespace troupe::python
