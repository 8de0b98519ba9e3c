#pragma once

#include <cstddef>

#include "api/python/src/gil.hpp"

namespace troupe::python {

/// The bytes of a host object that shares its memory (a numpy array, bytes, memoryview, ...), which
/// it keeps alive and in place. With the GIL.
struct host_range {
  py::object owner;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

/// For reading. What is not contiguous is copied to be so. Raises TypeError for an object that
/// shares no memory, 107000 for elements that are Python objects.
[[nodiscard]] host_range readable(const py::object& given);

/// For writing: raises 107000 as well for what is read-only or not contiguous.
[[nodiscard]] host_range writable(const py::object& given);

/// A copy of these bytes, of the module's own.
[[nodiscard]] host_range snapshot(const host_range& given);

} // namespace troupe::python
