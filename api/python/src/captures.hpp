#pragma once

#include "api/python/src/gil.hpp"
#include "troupe/stream.hpp"

namespace troupe::python {

/// While `on` captures, what a command of it needs is kept for the graph and not for a run.
void keep_for_capture(const stream& on, const py::object& object);

void bind_graphs(py::module_& m);

} // namespace troupe::python
