#pragma once

#include <cstdint>

#include <gsl/gsl>

namespace troupe {

/// Turns a number into one that looks unrelated to it; a bijection (the finish of splitmix64).
[[nodiscard]] constexpr std::uint64_t scramble(std::uint64_t value) noexcept {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

/// Chance from a seed: the same numbers on every machine and with every standard library, which
/// the distributions of <random> do not promise. One owner at a time.
class splitmix_random {
public:
  explicit constexpr splitmix_random(std::uint64_t seed) noexcept : state_(scramble(seed)) {}

  constexpr std::uint64_t next() noexcept {
    state_ += 0x9e3779b97f4a7c15U;
    return scramble(state_);
  }

  /// A number from 0 to `bound` - 1; `bound` must not be 0. The remainder's bias is below
  /// `bound` / 2^64: nothing, for the counts of channels and steps drawn here.
  constexpr std::uint64_t below(std::uint64_t bound) {
    Expects(bound > 0);
    return next() % bound;
  }

private:
  std::uint64_t state_;
};

/// The generator that every strategy of this folder uses; it needs `next` and `below` only.
using exploration_random = splitmix_random;

} // namespace troupe
