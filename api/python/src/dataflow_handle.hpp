#pragma once

#include "api/python/src/gil.hpp"

namespace troupe::python {

/// `runtime.Dataflow`.
void bind_dataflow(py::module_& m);

} // namespace troupe::python
