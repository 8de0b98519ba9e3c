#pragma once

#include <cstdint>
#include <functional>

#include "core/exploration/schedule_script.hpp"

namespace troupe {

struct shrink_limits {
  std::uint64_t replays_max = 1000;
};

struct shrink_result {
  schedule_script script;    ///< the smallest failing script found; as given if it did not fail
  std::uint64_t replays = 0; ///< how often `fails` was asked
  bool reproduced = false;   ///< the script as given failed
  bool minimal = false;      ///< nothing more can go; false if the limit came first
};

/// Looks for the smallest script that still fails: takes entries away, all at once, then by halves
/// and so down to single ones, then shortens the delays by halving, and starts over until nothing
/// more can go.
///
/// `fails` replays a script and says whether the run fails; it must answer alike for equal scripts
/// and is asked once for each. When the result is `minimal`, it passes without any one of its
/// entries, and with any one of its delays a step shorter. That is a local minimum: an unrelated,
/// smaller script may exist. What `fails` throws is passed on.
[[nodiscard]] shrink_result shrink(schedule_script script,
                                   const std::function<bool(const schedule_script&)>& fails,
                                   shrink_limits limits = {});

} // namespace troupe
