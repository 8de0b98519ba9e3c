// In place of operators.cpp where the library was built without oneDNN.

#include "api/python/src/operators.hpp"

namespace troupe::python {

void launch_operator(work_stream&, const std::string& name, const py::object&) {
  check(make_status(code::kernel_lookup, "there is no kernel '" + name +
                                             "', and this module was built without operators"));
}

void bind_operators(py::module_&) {}

} // namespace troupe::python
