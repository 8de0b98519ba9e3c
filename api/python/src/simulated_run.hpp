#pragma once

#include "api/python/src/gil.hpp"

namespace troupe::python {

/// Behind `runtime.testing`: simulated runs of Python code, searches and faults.
void bind_simulated_runs(py::module_& m);

} // namespace troupe::python
