#include "core/device_heap.hpp"

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace troupe {
namespace {

using outcome = device_heap::free_outcome;
using range = device_heap::range;

constexpr std::uint64_t unit = device_heap::default_alignment;

std::uint64_t offset_of(const std::optional<device_heap::block>& block) {
  return block ? block->offset : ~std::uint64_t{0};
}

/// Fills a heap of `count` units with blocks of one unit each, at offsets 0, unit, 2 unit ...
device_heap full_heap(std::uint64_t count) {
  device_heap heap(count * unit);
  for (std::uint64_t i = 0; i < count; ++i) EXPECT_EQ(offset_of(heap.allocate(unit)), i * unit);
  return heap;
}

TEST(device_heap, rounds_a_block_up_and_remembers_what_was_asked_for) {
  device_heap heap(10 * unit);
  const auto block = heap.allocate(unit + 1, 7);
  EXPECT_EQ(block, (device_heap::block{0, 2 * unit, unit + 1, 7}));
  const auto now = heap.current_figures();
  EXPECT_EQ(now.used, 2 * unit);
  EXPECT_EQ(now.requested, unit + 1);
  EXPECT_EQ(now.free, 8 * unit);
  EXPECT_EQ(now.live_blocks, 1u);
}

TEST(device_heap, uses_the_alignment_it_was_given) {
  device_heap heap(1000, 64);
  EXPECT_EQ(heap.capacity(), 960u); // the rest of a unit is no use
  EXPECT_EQ(offset_of(heap.allocate(1)), 0u);
  EXPECT_EQ(offset_of(heap.allocate(65)), 64u);
  EXPECT_EQ(offset_of(heap.allocate(1)), 192u);
}

TEST(device_heap, answers_a_shortage_with_no_block_and_stays_as_it_was) {
  device_heap heap(4 * unit);
  ASSERT_TRUE(heap.allocate(3 * unit));
  EXPECT_FALSE(heap.allocate(unit + 1));
  EXPECT_FALSE(heap.allocate(~std::uint64_t{0})); // its rounding would overflow
  EXPECT_EQ(heap.holes(), (std::vector<range>{{3 * unit, unit}}));
  EXPECT_EQ(heap.current_figures().used_high_water, 3 * unit);
  EXPECT_TRUE(heap.allocate(unit));
  EXPECT_FALSE(heap.allocate(1));
}

TEST(device_heap, without_capacity_has_nothing_to_give) {
  device_heap heap(unit - 1);
  EXPECT_FALSE(heap.allocate(1));
  EXPECT_EQ(heap.current_figures().holes, 0u);
  EXPECT_EQ(heap.free(0).outcome, outcome::unknown);
}

TEST(device_heap, takes_the_smallest_hole_that_fits_and_the_lowest_of_equals) {
  auto heap = full_heap(12);
  // Holes of three, two and two units.
  for (const std::uint64_t i : {1u, 2u, 3u, 5u, 6u, 8u, 9u}) heap.free(i * unit);
  EXPECT_EQ(offset_of(heap.allocate(2 * unit)), 5 * unit);
  EXPECT_EQ(offset_of(heap.allocate(unit)), 8 * unit);
  EXPECT_EQ(offset_of(heap.allocate(unit)), 9 * unit);
  EXPECT_EQ(offset_of(heap.allocate(unit)), 1 * unit);
}

TEST(device_heap, merges_a_freed_block_with_the_hole_below_above_and_both) {
  auto heap = full_heap(7);
  heap.free(1 * unit);
  heap.free(2 * unit); // hole below
  EXPECT_EQ(heap.holes(), (std::vector<range>{{unit, 2 * unit}}));
  heap.free(5 * unit);
  heap.free(4 * unit); // hole above
  EXPECT_EQ(heap.holes(), (std::vector<range>{{unit, 2 * unit}, {4 * unit, 2 * unit}}));
  heap.free(3 * unit); // both
  EXPECT_EQ(heap.holes(), (std::vector<range>{{unit, 5 * unit}}));
  EXPECT_EQ(offset_of(heap.allocate(5 * unit)), unit);
}

TEST(device_heap, is_one_hole_again_when_everything_was_freed) {
  auto heap = full_heap(8);
  for (const std::uint64_t i : {6u, 0u, 3u, 7u, 1u, 5u, 2u, 4u})
    EXPECT_EQ(heap.free(i * unit).outcome, outcome::freed);
  EXPECT_EQ(heap.holes(), (std::vector<range>{{0, 8 * unit}}));
  const auto now = heap.current_figures();
  EXPECT_EQ(now.used, 0u);
  EXPECT_EQ(now.requested, 0u);
}

TEST(device_heap, remembers_the_most_it_ever_held) {
  device_heap heap(8 * unit);
  ASSERT_TRUE(heap.allocate(5 * unit));
  heap.free(0);
  ASSERT_TRUE(heap.allocate(2 * unit));
  EXPECT_EQ(heap.current_figures().used, 2 * unit);
  EXPECT_EQ(heap.current_figures().used_high_water, 5 * unit);
}

TEST(device_heap, E3_tells_bad_pointers_apart_and_leaves_its_books_unchanged) {
  device_heap heap(16 * unit);
  ASSERT_TRUE(heap.allocate(2 * unit));
  ASSERT_TRUE(heap.allocate(2 * unit, 3));
  ASSERT_TRUE(heap.allocate(2 * unit));
  ASSERT_EQ(heap.free(0).outcome, outcome::freed);
  const auto holes = heap.holes();

  EXPECT_EQ(heap.free(0).outcome, outcome::already_free);
  EXPECT_EQ(heap.free(unit).outcome, outcome::already_free);
  const auto interior = heap.free(3 * unit + 1);
  EXPECT_EQ(interior.outcome, outcome::interior);
  EXPECT_EQ(interior.subject, (device_heap::block{2 * unit, 2 * unit, 2 * unit, 3}));
  EXPECT_EQ(heap.free(6 * unit).outcome, outcome::unknown); // never handed out
  EXPECT_EQ(heap.free(16 * unit).outcome, outcome::unknown);
  EXPECT_EQ(heap.free(~std::uint64_t{0}).outcome, outcome::unknown);

  EXPECT_EQ(heap.holes(), holes);
  EXPECT_EQ(heap.current_figures().used, 4 * unit);
  EXPECT_EQ(heap.current_figures().live_blocks, 2u);
}

TEST(device_heap, knows_a_double_free_also_after_the_memory_merged_with_untouched_memory) {
  device_heap heap(16 * unit);
  ASSERT_TRUE(heap.allocate(2 * unit));
  heap.free(0);
  EXPECT_EQ(heap.free(unit).outcome, outcome::already_free);
  EXPECT_EQ(heap.free(2 * unit).outcome, outcome::unknown);
}

TEST(device_heap, finds_the_block_around_an_offset_up_to_its_last_byte) {
  auto heap = full_heap(3);
  heap.free(unit);
  EXPECT_EQ(heap.find(0)->offset, 0u);
  EXPECT_EQ(heap.find(unit - 1)->offset, 0u);
  EXPECT_FALSE(heap.find(unit));
  EXPECT_FALSE(heap.find(2 * unit - 1));
  EXPECT_EQ(heap.find(2 * unit)->offset, 2 * unit);
  EXPECT_EQ(heap.find(3 * unit - 1)->offset, 2 * unit);
  EXPECT_FALSE(heap.find(3 * unit));
}

TEST(device_heap, counts_the_slack_after_the_requested_bytes_as_the_blocks_own) {
  device_heap heap(2 * unit);
  ASSERT_TRUE(heap.allocate(1));
  EXPECT_EQ(heap.find(unit - 1)->requested, 1u);
  EXPECT_FALSE(heap.find(unit));
  EXPECT_EQ(heap.free(unit - 1).outcome, outcome::interior);
}

TEST(device_heap, lists_and_frees_the_blocks_of_one_owner_only) {
  device_heap heap(8 * unit);
  ASSERT_TRUE(heap.allocate(1, 1));
  ASSERT_TRUE(heap.allocate(2, 2));
  ASSERT_TRUE(heap.allocate(3, 1));
  const std::vector<device_heap::block> of_one{{0, unit, 1, 1}, {2 * unit, unit, 3, 1}};
  EXPECT_EQ(heap.blocks_of(1), of_one);
  EXPECT_EQ(heap.free_all(1), of_one);
  EXPECT_TRUE(heap.blocks_of(1).empty());
  EXPECT_TRUE(heap.free_all(1).empty());
  EXPECT_EQ(heap.blocks_of(2).size(), 1u);
  EXPECT_EQ(heap.current_figures().used, unit);
}

TEST(device_heap, measures_fragmentation_as_the_share_outside_the_largest_hole) {
  auto heap = full_heap(8);
  EXPECT_DOUBLE_EQ(heap.current_figures().fragmentation(), 0.0); // nothing free
  for (const std::uint64_t i : {0u, 2u, 4u, 5u}) heap.free(i * unit);
  auto now = heap.current_figures();
  EXPECT_EQ(now.holes, 3u);
  EXPECT_EQ(now.largest_hole, 2 * unit);
  EXPECT_DOUBLE_EQ(now.fragmentation(), 0.5);
  heap.free(3 * unit);
  now = heap.current_figures();
  EXPECT_EQ(now.largest_hole, 4 * unit);
  EXPECT_DOUBLE_EQ(now.fragmentation(), 0.2);
}

/// The heap as a child would write it: one number for each unit of memory.
class unit_map {
public:
  explicit unit_map(std::size_t units) : cells_(units, 0), touched_(units, false) {}

  std::optional<std::size_t> allocate(std::size_t units) {
    std::optional<range> best;
    for (const auto& hole : holes())
      if (hole.size >= units && (!best || hole.size < best->size)) best = hole;
    if (!best) return std::nullopt;
    ++blocks_;
    for (std::size_t i = best->offset; i < best->offset + units; ++i) {
      cells_[i] = blocks_;
      touched_[i] = true;
    }
    return best->offset;
  }

  outcome free(std::size_t at) {
    if (at >= cells_.size()) return outcome::unknown;
    const auto block = cells_[at];
    if (block == 0) return touched_[at] ? outcome::already_free : outcome::unknown;
    if (at > 0 && cells_[at - 1] == block) return outcome::interior;
    std::replace(cells_.begin(), cells_.end(), block, 0);
    return outcome::freed;
  }

  /// In units.
  [[nodiscard]] std::vector<range> holes() const {
    std::vector<range> found;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (cells_[i] != 0) continue;
      if (i == 0 || cells_[i - 1] != 0) found.push_back({i, 0});
      ++found.back().size;
    }
    return found;
  }

private:
  std::vector<int> cells_;
  std::vector<bool> touched_;
  int blocks_ = 0;
};

void expect_same_books(const device_heap& heap, const unit_map& model) {
  auto holes = model.holes();
  std::uint64_t largest = 0;
  std::uint64_t free = 0;
  for (auto& [offset, size] : holes) {
    offset *= unit;
    size *= unit;
    largest = std::max(largest, size);
    free += size;
  }
  const auto now = heap.current_figures();
  EXPECT_EQ(heap.holes(), holes);
  EXPECT_EQ(now.holes, holes.size());
  EXPECT_EQ(now.largest_hole, largest);
  EXPECT_EQ(now.free, free);
  EXPECT_EQ(now.used, now.capacity - free);
}

TEST(device_heap, agrees_with_a_map_of_single_units_in_every_random_step) {
  constexpr std::size_t units = 96;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](std::size_t most) { return random() % (most + 1); };
    device_heap heap(units * unit);
    unit_map model(units);
    for (int step = 0; step < 400; ++step) {
      if (pick(99) < 45) {
        const std::size_t size = 1 + pick(pick(9) == 0 ? 40 : 6);
        const auto block = heap.allocate(size * unit - pick(unit - 1), pick(3));
        const auto expected = model.allocate(size);
        ASSERT_EQ(block.has_value(), expected.has_value());
        if (expected) {
          EXPECT_EQ(block->offset, *expected * unit);
        }
      } else {
        const std::size_t at = pick(units);
        EXPECT_EQ(heap.free(at * unit).outcome, model.free(at));
      }
      expect_same_books(heap, model);
      ASSERT_FALSE(HasFailure()) << "seed " << seed << ", step " << step;
    }
    std::uint64_t owned = 0;
    for (std::uint64_t owner = 0; owner <= 3; ++owner)
      for (const auto& block : heap.free_all(owner)) owned += block.size;
    EXPECT_LE(owned, units * unit);
    EXPECT_EQ(heap.holes(), (std::vector<range>{{0, units * unit}}));
  }
}

TEST(device_heap, retired_block_stays_occupied_until_it_is_freed) {
  device_heap heap(4096);
  const auto first = heap.allocate(512).value();
  EXPECT_FALSE(heap.find(first.offset)->retired);
  heap.retire(first.offset);
  heap.retire(2048); // no block
  EXPECT_TRUE(heap.find(first.offset)->retired);
  EXPECT_EQ(heap.current_figures().used, 512U);
  EXPECT_EQ(heap.free(first.offset).outcome, device_heap::free_outcome::freed);
  EXPECT_FALSE(heap.allocate(512)->retired);
}

TEST(device_heap, knows_what_was_ever_handed_out) {
  device_heap heap(4096);
  const auto first = heap.allocate(512).value();
  EXPECT_EQ(heap.free(first.offset).outcome, device_heap::free_outcome::freed);
  EXPECT_TRUE(heap.handed_out(511));
  EXPECT_FALSE(heap.handed_out(512));
}

} // namespace
} // namespace troupe
