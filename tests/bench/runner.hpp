#pragma once

#include "tests/bench/contender.hpp"
#include "tests/bench/result.hpp"

#include <chrono>
#include <functional>
#include <string_view>
#include <vector>

namespace troupe::bench {

struct run_options {
  std::vector<row> rows;
  int repeats = 7;
  bool quick = false;
  std::chrono::seconds turn_limit{60};
  /// Called before each turn with row, contender and round (0 is the warm-up).
  std::function<void(const row&, std::string_view, int)> progress;
};

/// Measures every contender in every row. Within a row the contenders take turns, A B C A B C, so
/// that a noisy moment of the machine meets all of them; the first round warms up and is thrown
/// away.
///
/// A contender that is not available is left out from then on; one that fails loses the row. Both
/// are recorded as problems, neither stops the run. Must be called from a process with one thread.
[[nodiscard]] results run(const std::vector<contender>& contenders, const run_options& options);

}  // namespace troupe::bench
