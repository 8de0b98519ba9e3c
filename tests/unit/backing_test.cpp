#include "core/backing.hpp"

#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace troupe {
namespace {

using range = device_heap::range;

constexpr std::uint64_t granule = 4096;

TEST(backing, charges_for_every_granule_that_a_block_touches) {
  const backing arena(10 * granule, granule);
  EXPECT_EQ(arena.charge_for(0, 1), granule);
  EXPECT_EQ(arena.charge_for(0, granule), granule);
  EXPECT_EQ(arena.charge_for(0, granule + 1), 2 * granule);
  EXPECT_EQ(arena.charge_for(granule - 1, 2), 2 * granule);
  EXPECT_EQ(arena.charge_for(0, 10 * granule), 10 * granule);
  EXPECT_EQ(arena.backed_bytes(), 0u);
}

TEST(backing, charges_a_granule_once_however_many_blocks_share_it) {
  backing arena(10 * granule, granule);
  EXPECT_EQ(arena.commit(0, granule / 2), granule);
  EXPECT_EQ(arena.charge_for(granule / 2, granule / 2), 0u);
  EXPECT_EQ(arena.commit(granule / 2, granule), granule);
  EXPECT_EQ(arena.commit(0, 4 * granule), 2 * granule);
  EXPECT_EQ(arena.commit(0, 4 * granule), 0u);
  EXPECT_EQ(arena.backed_bytes(), 4 * granule);
}

TEST(backing, releases_no_more_granules_than_are_wanted) {
  device_heap heap(10 * granule);
  backing arena(10 * granule, granule);
  arena.commit(0, 8 * granule);
  EXPECT_TRUE(arena.release_free(heap, 0).empty());
  EXPECT_EQ(arena.release_free(heap, 1), (std::vector<range>{{0, granule}}));
  EXPECT_EQ(arena.release_free(heap, granule + 1), (std::vector<range>{{granule, 2 * granule}}));
  EXPECT_EQ(arena.backed_bytes(), 5 * granule);
  EXPECT_EQ(arena.release_free(heap, UINT64_MAX),
            (std::vector<range>{{3 * granule, 5 * granule}}));
  EXPECT_EQ(arena.backed_bytes(), 0u);
}

TEST(backing, uses_granules_of_two_mebibytes_unless_told_otherwise) {
  backing arena(std::uint64_t{80} << 30);
  EXPECT_EQ(arena.commit(std::uint64_t{79} << 30, 1), std::uint64_t{2} << 20);
}

TEST(backing, counts_the_short_last_granule_by_its_real_size) {
  device_heap heap(granule + 512);
  backing arena(granule + 512, granule);
  ASSERT_TRUE(heap.allocate(granule + 512));
  EXPECT_EQ(arena.commit(0, granule + 512), granule + 512);
  heap.free(0);
  EXPECT_EQ(arena.release_free(heap), (std::vector<range>{{0, granule + 512}}));
  EXPECT_EQ(arena.backed_bytes(), 0u);
}

TEST(backing, keeps_the_charge_after_a_free_until_it_is_released) {
  device_heap heap(4 * granule);
  backing arena(4 * granule, granule);
  const auto block = heap.allocate(2 * granule);
  arena.commit(block->offset, block->size);
  heap.free(block->offset);
  EXPECT_EQ(arena.backed_bytes(), 2 * granule);
  EXPECT_EQ(arena.trimmable(heap), (std::vector<range>{{0, 2 * granule}}));
  EXPECT_EQ(arena.backed_bytes(), 2 * granule);
  EXPECT_EQ(arena.release_free(heap), (std::vector<range>{{0, 2 * granule}}));
  EXPECT_EQ(arena.backed_bytes(), 0u);
  EXPECT_TRUE(arena.release_free(heap).empty());
  EXPECT_EQ(arena.charge_for(0, 2 * granule), 2 * granule);
}

TEST(backing, never_releases_a_granule_that_a_live_block_touches) {
  device_heap heap(6 * granule);
  backing arena(6 * granule, granule);
  const auto low = heap.allocate(granule + granule / 2);   // granules 0 and 1
  const auto middle = heap.allocate(3 * granule);          // granules 1 to 4
  const auto high = heap.allocate(granule / 2 + granule);  // granules 4 and 5
  for (const auto& each : {low, middle, high}) arena.commit(each->offset, each->size);
  ASSERT_EQ(arena.backed_bytes(), 6 * granule);
  heap.free(middle->offset);
  EXPECT_EQ(arena.release_free(heap), (std::vector<range>{{2 * granule, 2 * granule}}));
  EXPECT_EQ(arena.backed_bytes(), 4 * granule);
}

TEST(backing, lists_only_backed_granules_of_a_hole_and_joins_neighbours) {
  const device_heap heap(8 * granule); // one hole
  backing arena(8 * granule, granule);
  arena.commit(1 * granule, 2 * granule);
  arena.commit(5 * granule, 1);
  arena.commit(7 * granule, 1);
  const std::vector<range> expected{
      {1 * granule, 2 * granule}, {5 * granule, granule}, {7 * granule, granule}};
  EXPECT_EQ(arena.trimmable(heap), expected);
}

TEST(backing, lets_a_hole_smaller_than_a_granule_stay_backed) {
  device_heap heap(2 * granule);
  backing arena(2 * granule, granule);
  const auto first = heap.allocate(granule / 2);
  const auto second = heap.allocate(granule / 4);
  arena.commit(0, granule);
  heap.free(first->offset);
  EXPECT_TRUE(arena.trimmable(heap).empty());
  heap.free(second->offset);
  EXPECT_EQ(arena.trimmable(heap), (std::vector<range>{{0, granule}}));
}

TEST(backing, agrees_with_a_set_of_granules_in_every_random_step) {
  constexpr std::uint64_t granules = 24;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    device_heap heap(granules * granule);
    backing arena(granules * granule, granule);
    std::set<std::uint64_t> backed;
    for (int step = 0; step < 300; ++step) {
      if (random() % 2 == 0) {
        if (const auto block = heap.allocate(1 + random() % (3 * granule))) {
          const auto before = backed.size();
          for (auto at = block->offset; at < block->offset + block->size; at += 512)
            backed.insert(at / granule);
          EXPECT_EQ(arena.commit(block->offset, block->size), (backed.size() - before) * granule);
        }
      } else if (random() % 8 != 0) {
        heap.free(random() % (granules * granule) / 512 * 512);
      } else {
        for (const auto& [offset, size] : arena.release_free(heap)) {
          for (auto at = offset; at < offset + size; at += granule)
            EXPECT_EQ(backed.erase(at / granule), 1u);
          for (auto at = offset; at < offset + size; at += 512) EXPECT_FALSE(heap.find(at));
        }
        for (const auto each : backed) { // what stays is touched by a block
          bool live = false;
          for (auto at = each * granule; at < (each + 1) * granule; at += 512)
            live = live || heap.find(at).has_value();
          EXPECT_TRUE(live);
        }
      }
      ASSERT_EQ(arena.backed_bytes(), backed.size() * granule) << "seed " << seed;
    }
  }
}

} // namespace
} // namespace troupe
