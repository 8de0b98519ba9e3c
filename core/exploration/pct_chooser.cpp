#include "core/exploration/pct_chooser.hpp"

#include <algorithm>
#include <functional>

#include <gsl/gsl>

#include "core/exploration/seeded.hpp"

namespace troupe {
namespace {

// Ranks by chance have this bit, ranks of dropped channels do not and count down from it.
constexpr std::uint64_t top_bit = std::uint64_t{1} << 63U;

} // namespace

pct_chooser::pct_chooser(std::uint64_t seed, std::uint32_t depth, std::uint64_t expected_steps)
    : seed_(scramble(seed)), bottom_(top_bit) {
  Expects(depth > 0 && expected_steps > 0);
  exploration_random random(seed);
  for (std::uint32_t i = 1; i < depth; ++i) drops_.push_back(1 + random.below(expected_steps));
  std::sort(drops_.begin(), drops_.end(), std::greater<>());
}

// A function of seed and channel rather than a draw, so that channels may turn up in any order.
std::uint64_t pct_chooser::rank_of(std::uint32_t channel) const {
  const auto dropped = dropped_.find(channel);
  return dropped != dropped_.end() ? dropped->second : scramble(seed_ + channel) | top_bit;
}

std::size_t pct_chooser::highest(std::span<const choice> enabled) const {
  std::size_t best = 0;
  std::uint64_t best_rank = rank_of(enabled[0].channel);
  for (std::size_t i = 1; i < enabled.size(); ++i) {
    const std::uint64_t rank = rank_of(enabled[i].channel);
    // Two equal ranks by chance: the channel that was named first.
    const bool wins = rank != best_rank ? rank > best_rank
                                        : enabled[i].channel < enabled[best].channel;
    if (!wins) continue;
    best = i;
    best_rank = rank;
  }
  return best;
}

std::size_t pct_chooser::choose(std::span<const choice> enabled, std::uint64_t step) {
  Expects(!enabled.empty());
  std::size_t best = highest(enabled);
  // Not `==`: a simulation may leave out the steps at which there is nothing to choose.
  while (!drops_.empty() && drops_.back() <= step) {
    drops_.pop_back();
    dropped_[enabled[best].channel] = --bottom_;
    best = highest(enabled);
  }
  return best;
}

} // namespace troupe
