#pragma once

#include "tests/bench/peers/digits_work.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace troupe::bench {

/// What the digits example asks of its pool, batch after batch: the sizes in bytes of the tensors in
/// the order in which it takes them. Each is taken before the one before it is freed; the last is
/// freed before the next batch begins.
[[nodiscard]] std::vector<std::size_t> digits_allocations();

/// Takes and frees blocks in that order, `pairs` of them, by `take(bytes)`, which returns what frees
/// the block as it ends and can be moved.
template <class Take>
void churn(const std::vector<std::size_t>& sizes, std::size_t pairs, const Take& take) {
  for (std::size_t done = 0; done < pairs;) {
    auto current = take(sizes.front());
    ++done;
    for (std::size_t i = 1; i < sizes.size() && done < pairs; ++i, ++done) {
      auto next = take(sizes[i]);
      current = std::move(next);
    }
  }
}

}  // namespace troupe::bench
