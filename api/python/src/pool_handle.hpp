#pragma once

#include "api/python/src/gil.hpp"

namespace troupe::python {

/// `runtime.Pool`.
void bind_pools(py::module_& m);

} // namespace troupe::python
