#pragma once

#include "examples/digits/answers.hpp"
#include "examples/digits/digits_data.hpp"
#include "examples/digits/network.hpp"

namespace troupe::digits {

/// Classifies all images with nothing but oneDNN in the calling thread: the measure that a runtime
/// with streams and kernels is held against. Buffers are allocated and one batch is run before the
/// clock starts; the clock covers the conversion of pixels, all steps and the picking of classes.
/// The last batch is filled up with zeros if need be, and computed whole.
answers run_bare_loop(const network& net, const image_set& images);

}  // namespace troupe::digits
