#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace troupe::bench {

/// The work of the rows `fused_mlp` and `fused_conv`, the same for everyone: two dense layers with
/// bias and GELU, and a 3x3 convolution with batch normalisation and ReLU over images that lie as
/// NHWC, weights given in plain order.
struct fused_work {
  static constexpr std::int64_t rows = 64;
  static constexpr std::int64_t width = 512;

  static constexpr std::int64_t images = 4;
  static constexpr std::int64_t channels = 64;
  static constexpr std::int64_t side = 28;
  static constexpr float epsilon = 1e-5F;

  /// `count` numbers around 0, the same each time.
  static std::vector<float> numbers(std::int64_t count) {
    std::vector<float> made(static_cast<std::size_t>(count));
    std::uint32_t chance = 1;
    for (auto& each : made) {
      chance = chance * 1'664'525U + 1'013'904'223U;
      each = static_cast<float>((chance >> 16U) % 257U) / 2'048.F - 0.0625F;
    }
    return made;
  }
};

}  // namespace troupe::bench
