#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/soak/vitals.hpp"

namespace troupe::soak {

/// One interval of a soak: what was held at its end, when all clients stood still.
struct checkpoint {
  vitals held;
  std::int64_t launch_p50_ns = 0; ///< of a launch with its wait, during the interval
  std::int64_t launch_p99_ns = 0;
};

/// What must be flat and is not, a line each; empty if all is. The first third of the intervals is
/// warm-up for all but the exact rules. `points` may be short: then fewer rules apply.
///
/// Exact, at every checkpoint: no streams, events, device or pinned memory is held. Compared, last
/// third with middle third: file descriptors and threads do not grow, and resident memory grows by
/// no more than 4 MiB and 5 %.
[[nodiscard]] std::vector<std::string> not_flat(const std::vector<checkpoint>& points);

} // namespace troupe::soak
