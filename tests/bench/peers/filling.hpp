#pragma once

#include "core/stable_hash.hpp"
#include "tests/bench/row.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace troupe::bench {

/// The row `fragmentation`: blocks of 512 bytes to 4 MiB, small ones as likely as large ones by the
/// power of two, come and go at random until `w.count` have done so, while seven tenths of the memory
/// are asked for. Returns the share of what nobody asked for that the largest hole does not hold, in
/// percent. `Heap` has `take(bytes)`, which returns the place of the block or nothing, `give(place)`
/// and `largest_hole()`.
template <class Heap>
double fill_and_free(Heap& heap, const workload& w) {
  struct held {
    std::uint64_t place;
    std::uint64_t bytes;
  };
  stable_random random(7);
  std::vector<held> blocks;
  std::uint64_t asked = 0;
  const auto enough = w.bytes / 10 * 7;
  for (std::size_t done = 0; done < w.count; ++done) {
    const auto bytes = (std::uint64_t{512} << random.below(13)) + random.below(512);
    const auto got = asked + bytes <= enough ? heap.take(bytes) : std::nullopt;
    if (got) {
      blocks.push_back({*got, bytes});
      asked += bytes;
    } else if (!blocks.empty()) {
      auto& one = blocks[random.below(blocks.size())];
      heap.give(one.place);
      asked -= one.bytes;
      one = blocks.back();
      blocks.pop_back();
    }
  }
  const auto free = static_cast<double>(w.bytes - asked);
  return 100 * (1 - static_cast<double>(heap.largest_hole()) / free);
}

}  // namespace troupe::bench
