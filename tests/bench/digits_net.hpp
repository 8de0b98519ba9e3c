#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// The work of the row `digits_pipeline`, the same for every contender: a perceptron 784-128-10
/// with bias and ReLU after the first layer and softmax after the second, on batches of 32 images.
/// Values are made up, as speed does not depend on them.
namespace troupe::bench::digits {

inline constexpr std::size_t batch = 32;
inline constexpr std::size_t pixels = 784;
inline constexpr std::size_t hidden = 128;
inline constexpr std::size_t classes = 10;

/// `count` floats in [-0.5, 0.5), always the same ones for the same seed.
[[nodiscard]] inline std::vector<float> values(std::size_t count, std::uint32_t seed) {
  std::vector<float> result(count);
  std::uint32_t state = seed;
  for (auto& value : result) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) / static_cast<float>(1u << 24) - 0.5f;
  }
  return result;
}

}  // namespace troupe::bench::digits
