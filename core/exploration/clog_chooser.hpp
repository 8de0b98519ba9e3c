#pragma once

#include <map>

#include "core/exploration/chooser.hpp"
#include "core/exploration/seeded.hpp"

namespace troupe {

/// First in, first out, but now and then one or several channels are held for a while.
///
/// Each held channel gets an end of its own, so those clogged together come free one by one in
/// random order. Lengths are drawn by magnitude, from a few steps to the expected length of the
/// run: short and long clogs are equally common. A held channel still runs when nothing else can,
/// the one whose end is nearest first.
class clog_chooser final : public chooser {
public:
  /// `expected_steps` is 1 or more; how often clogs begin in that many steps is drawn from `seed`.
  clog_chooser(std::uint64_t seed, std::uint64_t expected_steps);

  [[nodiscard]] std::size_t choose(std::span<const choice> enabled, std::uint64_t step) override;
  [[nodiscard]] const char* name() const noexcept override { return "clog"; }

private:
  [[nodiscard]] std::uint64_t held_until(std::uint32_t channel) const;
  void clog(std::span<const choice> enabled, std::uint64_t step);
  [[nodiscard]] std::uint64_t draw_length();

  exploration_random random_;
  std::uint64_t expected_steps_;
  std::uint64_t mean_gap_;                      // steps between the beginnings of clogs
  bool at_once_;                                // a clog begins with the first step
  std::map<std::uint32_t, std::uint64_t> ends_; // the first step at which a channel is free again
};

} // namespace troupe
