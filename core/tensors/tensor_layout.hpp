#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/status.hpp"
#include "core/tensors/element_type.hpp"

namespace troupe {

/// How long a tensor is meant to live: weights stay, results between operators do not.
enum class tensor_lifetime : std::uint8_t { persistent, temporary };

/// Lengths of the dimensions, or steps between neighbours along each, in elements.
using dimensions = std::vector<std::int64_t>;

inline constexpr std::size_t tensor_rank_max = 5;
inline constexpr std::int64_t tensor_elements_max = std::int64_t{1} << 40;

/// "[2, 3, 28, 28]".
[[nodiscard]] std::string to_text(const dimensions& values);

/// Steps of a tensor of `shape` whose last dimension lies closest together.
[[nodiscard]] dimensions row_major(const dimensions& shape);

/// Steps of a tensor of `shape` without gaps whose dimensions lie in the order of `steps`, those of
/// another tensor of equal rank whose shape is `like`: what becomes of NHWC stays NHWC.
[[nodiscard]] dimensions dense_as(const dimensions& shape, const dimensions& like,
                                  const dimensions& steps);

/// Shape, strides, element type and lifetime of a tensor; a value. Images have the shape
/// [batch, channels, height, width] however they lie: the strides tell NCHW from NHWC.
struct tensor_layout {
  element_type type = element_type::f32;
  dimensions shape;
  dimensions strides;
  tensor_lifetime lifetime = tensor_lifetime::temporary;

  /// Checked: 1 to 5 dimensions of at least 1, at most 2^40 elements from first to last, and no
  /// two elements in one place. Without strides the tensor is row-major. Failure: 107000.
  [[nodiscard]] static result<tensor_layout> make(
      element_type type, dimensions shape, dimensions strides = {},
      tensor_lifetime lifetime = tensor_lifetime::temporary);

  /// As `make`, for images that lie as NHWC: channels closest together.
  [[nodiscard]] static result<tensor_layout> channels_last(
      element_type type, dimensions shape, tensor_lifetime lifetime = tensor_lifetime::temporary);

  [[nodiscard]] std::int64_t elements() const noexcept;

  /// From the first element to the end of the last, gaps included.
  [[nodiscard]] std::size_t bytes() const noexcept;

  [[nodiscard]] bool is_row_major() const { return strides == row_major(shape); }

  friend bool operator==(const tensor_layout&, const tensor_layout&) = default;
};

/// "f32[2, 3]", with the strides behind it if it is not row-major.
[[nodiscard]] std::string to_text(const tensor_layout& layout);

} // namespace troupe
