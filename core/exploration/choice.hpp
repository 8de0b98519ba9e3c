#pragma once

#include <cstdint>

namespace troupe {

/// One thing that may happen next in a simulation: the oldest item of a channel.
///
/// Everything that waits lies in a queue per channel, and only the head of a queue is ever
/// offered. So (channel, ordinal) names an item for good, in every run in which it exists, and no
/// choice can break the order within a channel.
///
/// Steps count from 1; what is there before the first step arrived at step 0. Whatever the
/// handling of step s puts in arrives at step s, and can be offered from step s + 1 on: an offered
/// item always has `arrived` < the step at hand.
struct choice {
  std::uint32_t channel = 0; ///< id in the run's `channel_table`
  std::uint64_t ordinal = 1; ///< the n-th item of its channel, from 1
  std::uint64_t arrived = 0; ///< the step at which it was put in

  friend bool operator==(const choice&, const choice&) = default;
};

/// The order in which a run goes when no strategy interferes: first in, first out; of items put in
/// by the same step, the one on the channel that was named first. Total, as a channel offers one
/// item only.
[[nodiscard]] constexpr bool comes_before(const choice& a, const choice& b) noexcept {
  return a.arrived != b.arrived ? a.arrived < b.arrived : a.channel < b.channel;
}

} // namespace troupe
