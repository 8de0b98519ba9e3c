#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <gsl/gsl>

namespace troupe {

// Chance that can be repeated: the same inputs give the same figures on every machine, compiler and
// library, today and in a regression test of next year. That rules out `std::hash` and the
// distributions of <random>, whose results are left open. Nothing here withstands an adversary.

/// Spreads a word over all 64 bits; a bijection (the finalizer of splitmix64).
[[nodiscard]] constexpr std::uint64_t mix_bits(std::uint64_t word) noexcept {
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9ULL;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EBULL;
  return word ^ (word >> 31);
}

/// The increment of splitmix64: odd, with bits that look like chance (the golden ratio).
inline constexpr std::uint64_t golden_step = 0x9E3779B97F4A7C15ULL;

/// A fraction from 0 up to, but never, 1, made of the upper 53 bits, as many as a double keeps.
[[nodiscard]] constexpr double to_unit(std::uint64_t word) noexcept {
  return static_cast<double>(word >> 11) * 0x1p-53;
}

/// A hash that is fed piece by piece; the order of the pieces counts.
///
///     stable_hash(seed).add(entry).add(channel).value()
class stable_hash {
public:
  constexpr explicit stable_hash(std::uint64_t seed = 0) noexcept : state_(mix_bits(seed)) {}

  constexpr stable_hash& add(std::uint64_t word) noexcept {
    state_ = mix_bits(state_ + golden_step + word);
    return *this;
  }

  /// The length goes in as well, so that two texts in a row do not hash like another cut of them.
  constexpr stable_hash& add(std::string_view text) noexcept {
    add(std::uint64_t{text.size()});
    std::uint64_t word = 0;
    std::size_t filled = 0;
    for (const char each : text) {
      // By shifts, not by memcpy: a machine of either byte order gets the same word.
      word |= std::uint64_t{static_cast<unsigned char>(each)} << (8 * filled);
      if (++filled < sizeof word) continue;
      add(std::exchange(word, 0));
      filled = 0;
    }
    return filled == 0 ? *this : add(word);
  }

  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return state_; }

private:
  std::uint64_t state_;
};

/// A small generator with a seed (splitmix64): a sequence of draws that can be repeated. For one
/// thread at a time. Where the order of draws depends on scheduling, use `stable_hash` of what the
/// draw is for instead.
class stable_random {
public:
  constexpr explicit stable_random(std::uint64_t seed) noexcept : state_(seed) {}

  /// The next 64 bits.
  [[nodiscard]] constexpr std::uint64_t next() noexcept { return mix_bits(state_ += golden_step); }

  /// A whole number from 0 to `limit` - 1, each as likely as the other; `limit` is at least 1.
  [[nodiscard]] constexpr std::uint64_t below(std::uint64_t limit) {
    Expects(limit > 0);
    // The first 2^64 mod limit draws are thrown away; the rest is a multiple of `limit`.
    const std::uint64_t surplus = (std::uint64_t{0} - limit) % limit;
    std::uint64_t draw = next();
    while (draw < surplus) draw = next();
    return draw % limit;
  }

  /// A fraction from 0 up to, but never, 1.
  [[nodiscard]] constexpr double unit() noexcept { return to_unit(next()); }

  /// True with this probability: never for 0, always for 1.
  [[nodiscard]] constexpr bool chance(double probability) noexcept { return unit() < probability; }

  /// Brings the elements into a random order, each as likely as the other.
  template <class T>
  constexpr void shuffle(gsl::span<T> items) {
    for (std::size_t left = items.size(); left > 1; --left) {
      using std::swap;
      swap(items[left - 1], items[static_cast<std::size_t>(below(left))]);
    }
  }

private:
  std::uint64_t state_;
};

} // namespace troupe
