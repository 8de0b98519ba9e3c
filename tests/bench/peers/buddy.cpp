#include "tests/bench/peers/filling.hpp"
#include "tests/bench/peers/peers.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

namespace troupe::bench {

namespace {

/// The buddy system of the text books: blocks are powers of two at multiples of their size; a larger
/// one is halved for want of a smaller, and two halves that are both free become one again.
class buddy_heap {
public:
  explicit buddy_heap(std::uint64_t bytes) : free_(order_of(bytes) + 1) {
    free_.back().insert(0);
  }

  std::optional<std::uint64_t> take(std::uint64_t bytes) {
    const auto order = order_of(bytes);
    auto found = order;
    while (found < free_.size() && free_[found].empty())
      ++found;
    if (found >= free_.size())
      return std::nullopt;
    const auto place = *free_[found].begin();
    free_[found].erase(free_[found].begin());
    while (found > order) {
      --found;
      free_[found].insert(place + size_of(found));
    }
    orders_.emplace(place, order);
    return place;
  }

  void give(std::uint64_t place) {
    auto order = orders_.extract(place).mapped();
    while (order + 1 < free_.size() && free_[order].erase(place ^ size_of(order)) != 0) {
      place &= ~size_of(order);
      ++order;
    }
    free_[order].insert(place);
  }

  [[nodiscard]] std::uint64_t largest_hole() const {
    for (auto order = free_.size(); order > 0; --order)
      if (!free_[order - 1].empty())
        return size_of(order - 1);
    return 0;
  }

private:
  static constexpr std::uint64_t least = 512;
  static std::size_t order_of(std::uint64_t bytes) {
    return static_cast<std::size_t>(std::countr_zero(std::bit_ceil(std::max(bytes, least)) / least));
  }
  static std::uint64_t size_of(std::size_t order) { return least << order; }

  std::vector<std::set<std::uint64_t>> free_;  // by order
  std::map<std::uint64_t, std::size_t> orders_;
};

}  // namespace

contender buddy_peer() {
  return {"buddy", {{"fragmentation", [](const workload& w) -> repetition {
                       return [w] {
                         buddy_heap heap(w.bytes);
                         return fill_and_free(heap, w);
                       };
                     }}}};
}

}  // namespace troupe::bench
