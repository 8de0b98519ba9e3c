#pragma once

#include <cstddef>

#include "core/tensors/tensor_layout.hpp"

namespace troupe {

/// Copies the elements of a tensor from one way of lying to another, without oneDNN: for what it
/// refuses. Immutable; any thread.
struct strided_copy {
  std::size_t element_bytes; ///< 1, 2 or 4
  dimensions shape;
  dimensions from; ///< steps of the source in elements; 0 repeats it along that dimension
  dimensions to;   ///< steps of the target

  /// The ranges must not overlap.
  void operator()(const std::byte* source, std::byte* target) const;
};

/// Steps by which a tensor of `layout` is read as one of `shape`, to which it broadcasts.
[[nodiscard]] dimensions broadcast_steps(const tensor_layout& layout, const dimensions& shape);

} // namespace troupe
