#include "actors/copy_loop.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace troupe {
namespace {

// Runs a whole copy of `bytes` in chunks, from and to places `shift` bytes off, between
// guard bytes; returns whether exactly the right bytes arrived.
bool arrives(std::size_t bytes, std::size_t shift, std::size_t chunk) {
  constexpr auto guard = std::byte{0xA5};
  std::vector<std::byte> source(bytes + shift);
  for (std::size_t i = 0; i < source.size(); ++i) {
    source[i] = static_cast<std::byte>((i * 2'654'435'761U) >> 13U);
  }
  std::vector<std::byte> target(bytes + shift + 64, guard);
  copy_payload copy;
  copy.source = source.data() + shift;
  copy.target = target.data() + shift;
  copy.bytes = bytes;
  while (copy.done < copy.bytes) {
    if (copy_chunk(copy, chunk) == 0) return false;
  }
  const auto is_guard = [](std::byte each) { return each == guard; };
  return std::equal(source.begin() + static_cast<std::ptrdiff_t>(shift), source.end(),
                    target.begin() + static_cast<std::ptrdiff_t>(shift)) &&
         std::all_of(target.begin(), target.begin() + static_cast<std::ptrdiff_t>(shift),
                     is_guard) &&
         std::all_of(target.end() - 64, target.end(), is_guard);
}

TEST(copy_loop, small_copies_arrive_whatever_their_chunks_and_places) {
  for (const std::size_t bytes : {1U, 63U, 64U, 4'097U}) {
    for (const std::size_t shift : {0U, 1U, 17U}) EXPECT_TRUE(arrives(bytes, shift, 1'000));
  }
}

TEST(copy_loop, large_copies_go_around_the_cache_and_arrive_to_the_byte) {
  constexpr std::size_t large = (std::size_t{16} << 20) + 77;
  for (const std::size_t shift : {0U, 1U, 63U}) {
    EXPECT_TRUE(arrives(large, shift, (std::size_t{1} << 20) + 5)) << shift;
  }
}

TEST(copy_loop, D5_overlapping_ranges_move_as_by_memmove_whatever_the_chunk) {
  constexpr std::size_t bytes = 10'000;
  std::vector<std::byte> before(2 * bytes);
  for (std::size_t i = 0; i < before.size(); ++i) before[i] = static_cast<std::byte>(i * 131U >> 3U);
  for (const std::size_t shift : {0U, 1U, 999U, 1'000U, 1'001U, 9'999U, 10'000U}) {
    for (const bool up : {true, false}) {
      auto moved = before;
      auto expected = before;
      const auto from = up ? 0 : shift;
      const auto to = up ? shift : 0;
      std::memmove(expected.data() + to, expected.data() + from, bytes);
      copy_payload copy;
      copy.source = moved.data() + from;
      copy.target = moved.data() + to;
      copy.bytes = bytes;
      while (copy.done < copy.bytes) ASSERT_NE(copy_chunk(copy, 1'000), 0U);
      EXPECT_EQ(moved, expected) << "shift " << shift << (up ? " up" : " down");
    }
  }
}

TEST(copy_loop, fill_writes_its_value_and_nothing_else) {
  std::vector<std::byte> target(300, std::byte{1});
  copy_payload fill;
  fill.target = target.data() + 10;
  fill.bytes = 200;
  fill.value = 7;
  EXPECT_EQ(copy_chunk(fill, 150), 150U);
  EXPECT_EQ(copy_chunk(fill, 150), 50U);
  EXPECT_EQ(std::count(target.begin(), target.end(), std::byte{7}), 200);
  EXPECT_EQ(target[9], std::byte{1});
  EXPECT_EQ(target[210], std::byte{1});
}

} // namespace
} // namespace troupe
