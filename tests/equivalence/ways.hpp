#pragma once

#include <cstdint>

#include "tests/equivalence/random_program.hpp"
#include "troupe/troupe.hpp"

namespace troupe::equivalence {

/// Runs `p` on `where` in every way: operator by operator in one stream, over several streams with
/// events, captured and replayed, as a graph at each fusion level and with passes left out, replayed
/// after its inputs changed and after they were bound elsewhere, and as dataflow. Throws
/// `std::runtime_error` with program, way and place when a result is another than that of the first
/// way. `seed` decides what a way leaves open.
void compare_ways(const device& where, const random_program& p, std::uint64_t seed);

} // namespace troupe::equivalence
