#pragma once

#include "tests/bench/contender.hpp"

namespace troupe::bench {

/// Troupe itself over its public facade, with default options but for limits that a row exceeds.
/// Copies are the blocking ones of a context, with ordinary host memory.
[[nodiscard]] contender troupe_contender();

/// The copies once more, through a stream: pinned host memory, submit, synchronise.
[[nodiscard]] contender troupe_async_contender();

}  // namespace troupe::bench
