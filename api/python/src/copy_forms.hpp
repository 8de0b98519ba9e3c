#pragma once

#include "api/python/src/gil.hpp"

namespace troupe::python {

/// Copies that do more than move bytes in a row, and fills with a value.
void bind_copy_forms(py::module_& m);

} // namespace troupe::python
