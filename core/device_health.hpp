#pragma once

#include <cstdint>
#include <vector>

#include "core/status.hpp"

namespace troupe {

/// What a device is good for right now.
///
///                  memory fault            abort                  abort ends
///     usable ----------------> faulted -----------> aborting --------------------> aborted
///        ^  \                                        ^    |                           |
///        |   +---------------- abort ----------------+    | no fault                  |
///        +-------------------------------------------------+<-------- repair ---------+
///
/// From any state a device may get `lost`; a reset makes every state `usable`, a lost device only
/// once it is back.
enum class device_health : unsigned char {
  unused,   ///< nobody has used it yet
  starting, ///< its first use is under way, which may take long
  usable,
  faulted,  ///< its memory has failed: every call says so, until an abort and a repair
  aborting, ///< a device-wide abort is under way: submissions are refused with 107022
  aborted,  ///< aborted after a fault, and not repaired yet: submissions are refused with 107022
  lost,     ///< it is gone, or was and has not been reset
};

[[nodiscard]] constexpr const char* to_string(device_health state) noexcept {
  switch (state) {
    case device_health::unused: return "unused";
    case device_health::starting: return "starting";
    case device_health::usable: return "usable";
    case device_health::faulted: return "faulted";
    case device_health::aborting: return "aborting";
    case device_health::aborted: return "aborted";
    case device_health::lost: return "lost";
  }
  return "unknown";
}

/// When a hook of a device-wide abort is called.
enum class abort_phase : unsigned char {
  before, ///< nothing has been stopped yet, and what is queued goes on
  after,  ///< nothing runs any more, or the abort's limit has passed
};

/// A part of a device's memory.
struct memory_part {
  const void* base = nullptr;
  std::uint64_t bytes = 0;
};

/// What is known of a memory fault: the first one since the device was usable.
struct memory_fault {
  status failure;                ///< of the task that met it, with its whole origin
  std::vector<memory_part> parts; ///< what the task wrote, at most `parts_max`: it lies in one of them

  static constexpr std::size_t parts_max = 16;
};

/// What of a device's limits is left, its neighbours' share taken off.
struct available_resources {
  std::uint64_t streams = 0;
  std::uint64_t events = 0;
  std::uint64_t memory_bytes = 0; ///< free in the device's heap, maybe in several holes
};

} // namespace troupe
