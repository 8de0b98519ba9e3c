#pragma once

#include <memory>

#include "api/python/src/session.hpp"

namespace troupe::python {

/// A device as Python code has it: an index in a session.
struct device_handle {
  std::shared_ptr<session> of;
  std::int64_t index = 0;

  [[nodiscard]] device get() const { return of->device_at(index); }
  [[nodiscard]] std::shared_ptr<place> own_place() const { return of->place_of(index); }
};

void bind_devices(py::module_& m);
void bind_figures(py::module_& m);

} // namespace troupe::python
