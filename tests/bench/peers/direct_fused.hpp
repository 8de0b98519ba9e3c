#pragma once

#include "tests/bench/contender.hpp"

namespace troupe::bench {

/// The rows `fused_mlp` and `fused_conv` as one would write them with oneDNN alone, in one thread: a
/// primitive with post-operations for each layer, weights arranged and all memory bound before.
repetition direct_mlp(const workload& w);
repetition direct_conv(const workload& w);

}  // namespace troupe::bench
