#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/stable_hash.hpp"
#include "tests/equivalence/random_program.hpp"

namespace troupe::equivalence {

/// A program spread over lanes and memory: each step on a lane, its output where another tensor lay
/// that nobody reads any more, and before it waits for just the steps that it conflicts with: those
/// that write what it reads, and those that read or write what its output takes the place of.
struct spread {
  struct step {
    std::size_t lane;
    std::vector<std::size_t> after; ///< steps of other lanes, ascending
  };
  struct edge {
    std::size_t step;
    std::size_t wait; ///< its place in `after`
  };

  std::vector<step> steps;          ///< of the program, in its order
  std::vector<std::uint32_t> homes; ///< by tensor: the one whose memory it lies in, often itself

  /// The waits that no others make superfluous: without one of them two steps may run in either
  /// order.
  [[nodiscard]] std::vector<edge> needed() const;
};

[[nodiscard]] spread make_spread(const random_program& p, std::size_t lanes, stable_random& chance);

} // namespace troupe::equivalence
