#pragma once

#include <cstdint>
#include <vector>

#include "core/graphs/graph_ir.hpp"
#include "core/status.hpp"

namespace troupe {

/// Memory that only a graph's own nodes use, from the first of them to the last.
struct private_range {
  std::uint64_t bytes = 0;
  std::vector<std::uint32_t> users; ///< nodes, in any order
};

/// Where each private range of a graph lies in one block, in the order in which they were given.
struct memory_plan {
  std::vector<std::uint64_t> offsets;
  std::uint64_t peak_bytes = 0; ///< of the block
  std::uint64_t total_bytes = 0; ///< what it would be without reuse
};

/// Places ranges so that two share bytes only if every user of one comes before every user of the
/// other in the order of the graph, whatever runs in parallel. Larger ones first, each at the lowest
/// offset, a multiple of `alignment` (a power of 2). Failures: 107000 for a cycle, a user that is
/// not there, or a range of 0 bytes or without users. Time and memory: nodes squared / 64 words.
[[nodiscard]] result<memory_plan> plan_memory(const graph_ir& graph,
                                              const std::vector<private_range>& ranges,
                                              std::uint64_t alignment = 64);

} // namespace troupe
