#pragma once

#include <cstdint>

namespace troupe {

/// How a pool treats memory that is not in use.
struct pool_options {
  /// What a synchronise lets the pool keep, in bytes: of what it has taken from the device beyond
  /// that, it gives back the large blocks that nothing uses.
  std::uint64_t release_threshold_bytes = 0;

  /// Whether a freed block may go to another stream than its own, or to its own after others have
  /// used it, when all work on it is seen to have ended. If not, only stream order decides, and
  /// which block an allocation gets depends on the program alone and not on how fast work goes; a
  /// pool then takes more memory.
  bool opportunistic = true;
};

} // namespace troupe
