#include "core/checking/block_watch.hpp"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace troupe {
namespace {

using kind = memory_misuse::kind;

TEST(written_ranges, joins_what_touches_and_tells_the_first_gap) {
  written_ranges all;
  EXPECT_EQ(all.first_gap(0, 10), written_ranges::range(0, 10));
  all.add(2, 4);
  all.add(6, 8);
  all.add(9, 9);
  EXPECT_EQ(all.first_gap(0, 10), written_ranges::range(0, 2));
  EXPECT_EQ(all.first_gap(2, 10), written_ranges::range(4, 6));
  EXPECT_EQ(all.first_gap(7, 10), written_ranges::range(8, 10));
  EXPECT_FALSE(all.first_gap(2, 4));
  all.add(4, 6);
  EXPECT_FALSE(all.first_gap(2, 8));
  all.add(0, 20);
  EXPECT_FALSE(all.first_gap(0, 20));
  EXPECT_EQ(all.first_gap(0, 21), written_ranges::range(20, 21));
  EXPECT_FALSE(all.first_gap(5, 5));
}

class block_watch_test : public ::testing::Test {
protected:
  std::vector<std::byte> memory = std::vector<std::byte>(4096);
  block_watch watch{memory.data()};
  block_watch::findings found;

  void write(std::size_t offset, std::size_t bytes) {
    std::memset(memory.data() + offset, 1, bytes);
  }
  memory_misuse only() {
    EXPECT_EQ(found.size(), 1U);
    const auto one = found.empty() ? memory_misuse{} : found.front();
    found.clear();
    return one;
  }
};

TEST_F(block_watch_test, D6_fresh_and_freed_memory_have_patterns_of_their_own) {
  watch.hand_out(512, 512, 100, 7, found);
  EXPECT_EQ(memory[512 + 99], block_watch::fresh);
  EXPECT_EQ(memory[512 + 100], block_watch::guard);
  EXPECT_EQ(memory[1024], std::byte{0});
  watch.take_back(512, 512, 7, found);
  EXPECT_EQ(memory[512], block_watch::freed);
  EXPECT_EQ(memory[1023], block_watch::freed);
  EXPECT_TRUE(found.empty());
}

TEST_F(block_watch_test, E6_a_write_behind_the_end_is_told_once_with_block_and_place) {
  watch.hand_out(512, 512, 100, 7, found);
  watch.hand_out(1024, 512, 8, 8, found);
  write(512 + 100, 1);
  watch.verify(0, found);
  const auto one = only();
  EXPECT_EQ(one.what, kind::out_of_bounds);
  EXPECT_TRUE(one.found_written);
  EXPECT_EQ(one.block, 512U);
  EXPECT_EQ(one.block_bytes, 100U);
  EXPECT_EQ(one.owner, 7U);
  EXPECT_EQ(one.at, 100U);
  EXPECT_EQ(one.bytes, 1U);
  EXPECT_EQ(one.next, 1024U) << "it may have been meant for the one behind";
  watch.verify(0, found);
  EXPECT_TRUE(found.empty());
  write(512 + 200, 4);
  watch.take_back(512, 512, 7, found);
  EXPECT_EQ(only().at, 200U) << "at the latest when it is freed";
}

TEST_F(block_watch_test, a_write_to_freed_memory_is_found_by_a_look_and_when_it_is_used_again) {
  watch.hand_out(512, 512, 100, 7, found);
  watch.take_back(512, 512, 7, found);
  write(512 + 10, 5);
  watch.verify(UINT64_MAX, found);
  auto one = only();
  EXPECT_EQ(one.what, kind::used_after_free);
  EXPECT_EQ(one.block_bytes, 100U);
  EXPECT_EQ(one.owner, 7U);
  EXPECT_EQ(one.at, 10U);
  EXPECT_EQ(one.bytes, 5U);
  write(512 + 300, 1);
  watch.hand_out(768, 64, 64, 8, found); // takes the middle of it
  EXPECT_EQ(only().at, 300U);
  write(512, 1);
  watch.verify(UINT64_MAX, found);
  EXPECT_EQ(only().at, 0U) << "the rest of it on the left is still watched";
  write(1023, 1);
  watch.verify(UINT64_MAX, found);
  EXPECT_EQ(only().at, 511U) << "and on the right";
}

TEST_F(block_watch_test, looks_of_a_few_bytes_go_round_and_find_all) {
  for (std::uint64_t at = 0; at < 4096; at += 1024) {
    watch.hand_out(at, 512, 512, 1, found);
    watch.take_back(at, 512, 1, found);
  }
  write(2048 + 400, 1);
  for (int looks = 0; looks < 4 * 512 / 100 + 8; ++looks) watch.verify(100, found);
  EXPECT_EQ(only().block, 2048U);
}

TEST_F(block_watch_test, reads_of_what_was_never_written_are_told_once) {
  watch.hand_out(0, 512, 100, 7, found);
  watch.write(0, 40, found);
  watch.read(10, 30, found);
  EXPECT_TRUE(found.empty());
  watch.read(20, 60, found);
  const auto one = only();
  EXPECT_EQ(one.what, kind::read_before_write);
  EXPECT_FALSE(one.found_written);
  EXPECT_EQ(one.at, 40U);
  EXPECT_EQ(one.bytes, 40U);
  watch.read(20, 60, found);
  EXPECT_TRUE(found.empty());
}

TEST_F(block_watch_test, declared_uses_behind_the_end_and_of_freed_memory_are_told) {
  watch.hand_out(0, 512, 100, 7, found);
  watch.write(90, 20, found);
  auto one = only();
  EXPECT_EQ(one.what, kind::out_of_bounds);
  EXPECT_EQ(one.at, 100U);
  EXPECT_EQ(one.bytes, 10U);
  watch.write(120, 4, found);
  EXPECT_EQ(only().at, 120U);
  watch.take_back(0, 512, 7, found);
  watch.read(8, 4, found);
  one = only();
  EXPECT_EQ(one.what, kind::used_after_free);
  EXPECT_EQ(one.at, 8U);
  watch.read(2048, 4, found);
  EXPECT_TRUE(found.empty()) << "never handed out: not known here";
}

TEST_F(block_watch_test, what_is_forgotten_is_not_looked_at) {
  watch.hand_out(0, 512, 100, 7, found);
  watch.hand_out(512, 512, 100, 7, found);
  watch.take_back(512, 512, 7, found);
  watch.forget(0, 768);
  write(0, 700);
  watch.verify(UINT64_MAX, found);
  EXPECT_TRUE(found.empty());
  write(800, 1);
  watch.verify(UINT64_MAX, found);
  EXPECT_EQ(only().at, 288U);
}

} // namespace
} // namespace troupe
