#pragma once

#include <cstddef>

#include <optional>

#include "api/python/src/device_array.hpp"

namespace troupe::python {

/// The bytes of a host object that shares its memory (a numpy array, bytes, memoryview, ...), which
/// it keeps alive and in place. With the GIL.
struct host_range {
  py::object owner;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

/// The dtype of what lies in a host object that shares its memory; nothing for plain bytes (bytes,
/// bytearray, uint8, ...), which stand for elements of any kind.
[[nodiscard]] std::optional<py::dtype> element_type_of(const py::object& given);

/// The same for an array on a device.
[[nodiscard]] std::optional<py::dtype> element_type_of(const device_array& given);

/// Refuses a copy between elements of two kinds or of two numbers, which would be one of bytes by
/// accident: 107000 with both dtypes and sizes. Plain bytes go with anything.
void expect_alike(const std::optional<py::dtype>& target, std::size_t target_bytes,
                  const std::optional<py::dtype>& source, std::size_t source_bytes);

/// For reading. What is not contiguous is copied to be so. Raises TypeError for an object that
/// shares no memory, 107000 for elements that are Python objects.
[[nodiscard]] host_range readable(const py::object& given);

/// For writing: raises 107000 as well for what is read-only or not contiguous.
[[nodiscard]] host_range writable(const py::object& given);

/// A copy of these bytes, of the module's own.
[[nodiscard]] host_range snapshot(const host_range& given);

} // namespace troupe::python
