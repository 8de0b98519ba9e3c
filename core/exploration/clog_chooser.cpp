#include "core/exploration/clog_chooser.hpp"

#include <algorithm>
#include <bit>

#include <gsl/gsl>

namespace troupe {
namespace {

constexpr std::uint64_t clogs_max = 8; // beginnings in a run of the expected length
constexpr std::uint64_t channels_at_once_max = 3;

} // namespace

clog_chooser::clog_chooser(std::uint64_t seed, std::uint64_t expected_steps)
    : random_(seed), expected_steps_(expected_steps) {
  Expects(expected_steps > 0);
  mean_gap_ = std::max<std::uint64_t>(1, expected_steps / (1 + random_.below(clogs_max)));
  // What a program puts in at its start is gone before a clog by chance would come.
  at_once_ = random_.below(2) == 0;
}

std::uint64_t clog_chooser::held_until(std::uint32_t channel) const {
  const auto end = ends_.find(channel);
  return end == ends_.end() ? 0 : end->second;
}

std::uint64_t clog_chooser::draw_length() {
  const auto magnitudes = gsl::narrow_cast<std::uint64_t>(std::bit_width(expected_steps_));
  const std::uint64_t floor = std::uint64_t{1} << random_.below(magnitudes);
  return floor + random_.below(floor);
}

// The same channel may be drawn twice: then fewer are held, or one for a new length.
void clog_chooser::clog(std::span<const choice> enabled, std::uint64_t step) {
  const std::uint64_t channels = 1 + random_.below(channels_at_once_max);
  for (std::uint64_t i = 0; i < channels; ++i) {
    const auto& victim = enabled[gsl::narrow_cast<std::size_t>(random_.below(enabled.size()))];
    ends_[victim.channel] = step + draw_length();
  }
}

std::size_t clog_chooser::choose(std::span<const choice> enabled, std::uint64_t step) {
  Expects(!enabled.empty());
  if (at_once_ || random_.below(mean_gap_) == 0) clog(enabled, step);
  at_once_ = false;
  // The end that counts is 0 for every free channel, which leaves these to first come; held ones
  // come after all of them.
  const auto end_of = [&](const choice& c) {
    const std::uint64_t end = held_until(c.channel);
    return end > step ? end : 0;
  };
  const auto best = std::min_element(enabled.begin(), enabled.end(),
                                     [&](const choice& a, const choice& b) {
    const auto end_a = end_of(a);
    const auto end_b = end_of(b);
    return end_a != end_b ? end_a < end_b : comes_before(a, b);
  });
  return gsl::narrow_cast<std::size_t>(best - enabled.begin());
}

} // namespace troupe
