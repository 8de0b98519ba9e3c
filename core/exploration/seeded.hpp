#pragma once

#include <cstdint>

#include "core/stable_hash.hpp"

namespace troupe {

/// Turns a number into one that looks unrelated to it; a bijection.
[[nodiscard]] constexpr std::uint64_t scramble(std::uint64_t value) noexcept {
  return mix_bits(value + golden_step);
}

/// The generator that every strategy of this folder uses; it needs `next` and `below` only.
using exploration_random = stable_random;

} // namespace troupe
