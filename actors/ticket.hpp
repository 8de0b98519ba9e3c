#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "actors/timeline.hpp"

namespace troupe {

/// A promise of the past tense: "stream X, up to number n". It never changes its meaning and
/// outlives its stream.
struct ticket {
  std::shared_ptr<timeline> line;
  std::uint64_t number = 0;

  /// Whether all of it has ended, in whatever way: nothing of it touches memory any more.
  [[nodiscard]] bool ended() const noexcept { return line->over(number); }
};

/// Several tickets that count together: a small vector clock. Memory may be reused without waiting
/// once all of its frontier has ended.
using frontier = std::vector<ticket>;

[[nodiscard]] inline bool all_ended(const frontier& edge) noexcept {
  return std::all_of(edge.begin(), edge.end(), [](const ticket& each) { return each.ended(); });
}

} // namespace troupe
