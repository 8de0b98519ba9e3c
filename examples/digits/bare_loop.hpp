#pragma once

#include "examples/digits/digits_data.hpp"
#include "examples/digits/network.hpp"

#include <cstdint>
#include <vector>

namespace troupe::digits {

struct bare_result {
  std::vector<std::uint8_t> predictions;  ///< one class per image
  double seconds;                         ///< wall time of all batches
};

/// Classifies all images with nothing but oneDNN in the calling thread: the measure that a runtime
/// with streams and kernels is held against. Buffers are allocated and one batch is run before the
/// clock starts; the clock covers the conversion of pixels, all steps and the picking of classes.
/// The last batch is filled up with zeros if need be, and computed whole.
bare_result run_bare_loop(const network& net, const image_set& images);

}  // namespace troupe::digits
