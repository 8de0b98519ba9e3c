#pragma once

namespace troupe {

/// Direction of a copy of raw memory. `automatic` takes it from the two addresses.
enum class copy_kind : unsigned char {
  host_to_host,
  host_to_device,
  device_to_host,
  device_to_device,
  automatic,
};

} // namespace troupe
