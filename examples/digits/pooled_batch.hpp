#pragma once

#include <span>

#include <troupe/troupe.hpp>

#include "examples/digits/device_network.hpp"

namespace troupe::digits {

/// Submits a batch to `s`: copies `input` to the device and launches all operators, with tensors
/// from `memory`. Each goes back to the pool when the operator that reads it has been submitted, so
/// that the pool serves the chain with little more than two tensors. Returns the last one.
///
/// Waits for the copy only. Throws `troupe::error`.
[[nodiscard]] pool_buffer<float> submit_pooled(const device_network& net, const pool& memory,
                                               stream& s, std::span<const float> input);

} // namespace troupe::digits
