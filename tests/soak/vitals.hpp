#pragma once

#include <cstddef>
#include <cstdint>

#include <troupe/troupe.hpp>

namespace troupe::soak {

/// What a process and its runtime hold at a moment when nothing is under way.
struct vitals {
  std::size_t resident_bytes = 0;
  std::size_t descriptors = 0;
  std::size_t threads = 0;
  std::size_t streams = 0; ///< of all devices
  std::size_t events = 0;
  std::uint64_t device_bytes = 0; ///< in use or in quarantine, all devices
  std::uint64_t host_bytes = 0;   ///< pinned, in use
};

/// Looks at the calling process (by /proc) and at `of`. Throws `std::runtime_error` if the system
/// does not tell.
[[nodiscard]] vitals take_vitals(const runtime& of);

} // namespace troupe::soak
