#pragma once

#include <cstdint>

#include "tests/equivalence/random_program.hpp"
#include "troupe/troupe.hpp"

namespace troupe::equivalence {

/// Runs `p` on `where`, which has two devices, in every way: operator by operator in one stream, over
/// several streams with events and memory that serves again, captured and replayed, as a graph at each
/// fusion level and with passes left out, replayed after its inputs changed and after they were bound
/// elsewhere, all graphs also with their nodes in random orders, and as dataflow on one device and over
/// two. Throws `std::runtime_error` with program, way and place when a result is another than that of
/// the first way. `seed` decides what a way leaves open.
void compare_ways(const runtime& where, const random_program& p, std::uint64_t seed);

/// How many waits for events order the steps in the ways with several streams, so that two steps that
/// conflict are not ordered without.
[[nodiscard]] std::size_t order_edges(const runtime& where, const random_program& p,
                                      std::uint64_t seed);

/// Runs these ways without one of those waits: throws as `compare_ways` if that shows.
void compare_without(const runtime& where, const random_program& p, std::uint64_t seed,
                     std::size_t edge);

} // namespace troupe::equivalence
