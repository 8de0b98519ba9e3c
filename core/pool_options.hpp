#pragma once

#include <cstdint>

namespace troupe {

/// How a pool treats memory that is not in use.
struct pool_options {
  /// What a synchronise lets the pool keep, in bytes: of what it has taken from the device beyond
  /// that, it gives back the large blocks that nothing uses.
  std::uint64_t release_threshold_bytes = 0;

  // Stream order always decides first: a freed block goes to its own stream again at once, unless
  // others have used it. Beyond that:

  /// Whether a freed block may go to a stream that comes after the work on it, by the waits for events
  /// that it was given, while that work goes on.
  bool follow_events = true;

  /// Whether a freed block may go to any stream when all work on it is seen to have ended. If not,
  /// which block an allocation gets depends on the program alone and not on how fast work goes; a
  /// pool then takes more memory.
  bool opportunistic = true;
};

} // namespace troupe
