#pragma once

#include <map>
#include <vector>

#include "core/exploration/chooser.hpp"

namespace troupe {

/// Probabilistic concurrency testing, with channels in the place of threads.
///
/// Every channel has a random rank, and the enabled channel of the highest rank always runs; at
/// depth - 1 steps, drawn beforehand from the expected length of the run, the channel that is about
/// to run drops below all others for good. So long one-sided stretches, which a random walk never
/// shows, are the rule. A bug that needs `depth` order constraints among n channels and k steps is
/// met in one of n * k^(depth - 1) runs at the latest, on average.
///
/// Unfair on purpose: a channel that keeps feeding itself can run for ever, so the simulation needs
/// a bound on steps.
class pct_chooser final : public chooser {
public:
  /// `depth` and `expected_steps` are 1 or more. A run that is longer than expected sees no drop
  /// after `expected_steps`; one that is much shorter sees few of them.
  pct_chooser(std::uint64_t seed, std::uint32_t depth, std::uint64_t expected_steps);

  [[nodiscard]] std::size_t choose(std::span<const choice> enabled, std::uint64_t step) override;
  [[nodiscard]] const char* name() const noexcept override { return "pct"; }

private:
  [[nodiscard]] std::uint64_t rank_of(std::uint32_t channel) const;
  [[nodiscard]] std::size_t highest(std::span<const choice> enabled) const;

  std::uint64_t seed_;
  std::vector<std::uint64_t> drops_; // steps still to come, the next one last
  std::uint64_t bottom_;             // every rank in use is at or above it
  std::map<std::uint32_t, std::uint64_t> dropped_;
};

} // namespace troupe
