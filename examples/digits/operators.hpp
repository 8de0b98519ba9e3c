#pragma once

#include "examples/digits/tensor_operator.hpp"

#include <cstdint>

namespace troupe::digits {

/// Images in NHWC order, or vectors when height and width are 1.
struct image_shape {
  std::int64_t batch;
  std::int64_t height;
  std::int64_t width;
  std::int64_t channels;
};

/// Convolution with a square kernel of odd size, stride 1, and zeros around the image so that it
/// keeps its size. No bias. One weight, plain form [out, in, row, column].
class conv2d : public tensor_operator {
public:
  conv2d(const image_shape& input, std::int64_t out_channels, std::int64_t kernel);

  std::vector<float> prepare_weight(std::size_t index, std::span<const float> plain) const override;
};

/// Adds one number per channel. One weight, plain form [channels].
class bias : public tensor_operator {
public:
  explicit bias(const image_shape& shape);

  /// Repeats the channels until they fill a row of the image: adding whole rows takes a tenth
  /// (8 channels) to a fifth (16) of the time of adding a few channels to each pixel.
  std::vector<float> prepare_weight(std::size_t index, std::span<const float> plain) const override;

private:
  std::size_t channels_;
};

/// max(x, 0) of each of `count` numbers.
class relu : public tensor_operator {
public:
  explicit relu(std::int64_t count);
};

/// Largest number of each 2x2 square, channel by channel. Height and width must be even and halve.
class max_pool : public tensor_operator {
public:
  explicit max_pool(const image_shape& input);
};

/// [rows, in] x [in, out]. One weight, plain form [in, out].
class matmul : public tensor_operator {
public:
  matmul(std::int64_t rows, std::int64_t in, std::int64_t out);
};

/// Turns the scores of `classes` classes into probabilities, row by row.
class softmax : public tensor_operator {
public:
  softmax(std::int64_t rows, std::int64_t classes);
};

}  // namespace troupe::digits
