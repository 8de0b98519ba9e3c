#pragma once

#include "api/python/src/gil.hpp"

namespace troupe::python {

/// What `runtime.set_option` sets, for the whole process. All are off at first.
enum class name_of_option : unsigned char { memory_reuse, pipelining, async };

[[nodiscard]] bool option(name_of_option which) noexcept;

void bind_options(py::module_& m);

} // namespace troupe::python
