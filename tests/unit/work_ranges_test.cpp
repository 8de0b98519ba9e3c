#include "actors/simulation/work_ranges.hpp"

#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "actors/payloads.hpp"

namespace troupe {
namespace {

class work_on_bytes : public ::testing::Test {
protected:
  void fill(std::uint64_t stream, std::uint64_t number, std::size_t at, std::size_t bytes) {
    command c(command_kind::copy_d2d, "fill", {});
    copy_payload what;
    what.target = all.data() + at;
    what.bytes = bytes;
    c.emplace<copy_payload>(copy_ops, what);
    ranges.add(stream, 1, number, c);
  }

  // The number of the work found, 0 for none.
  std::uint64_t at(std::size_t place, std::size_t bytes, std::uint64_t user = 0,
                   std::uint64_t up_to = UINT64_MAX) {
    const std::vector<work_ranges::part> known{{user, up_to}};
    const auto* found = ranges.find(all.data() + place, bytes, known);
    return found == nullptr ? 0 : found->number;
  }

  std::array<std::byte, 100> all{};
  work_ranges ranges;
};

TEST_F(work_on_bytes, is_found_where_any_byte_is_the_same) {
  fill(3, 1, 10, 10);
  EXPECT_EQ(at(0, 10), 0U);
  EXPECT_EQ(at(20, 10), 0U);
  EXPECT_EQ(at(0, 11), 1U);
  EXPECT_EQ(at(19, 1), 1U);
  EXPECT_EQ(at(0, 100), 1U);
  EXPECT_EQ(at(12, 2), 1U);
}

TEST_F(work_on_bytes, of_the_users_own_stream_comes_before_it_anyway) {
  fill(3, 1, 10, 10);
  EXPECT_EQ(at(10, 10, 3), 0U);
  EXPECT_EQ(at(10, 10, 4), 1U);
}

TEST_F(work_on_bytes, that_is_known_of_another_stream_is_so_up_to_a_number) {
  fill(3, 1, 10, 10);
  fill(3, 2, 10, 10);
  EXPECT_EQ(at(10, 10, 3, 1), 2U);
  EXPECT_EQ(at(10, 10, 3, 2), 0U);
}

TEST_F(work_on_bytes, is_forgotten_when_it_has_ended) {
  fill(3, 1, 10, 10);
  fill(3, 2, 10, 10);
  fill(3, 3, 10, 10);
  ranges.end(3, 2);
  EXPECT_EQ(at(10, 10), 3U);
  ranges.end(4, 9);
  EXPECT_EQ(at(10, 10), 3U);
  ranges.end(3, 3);
  EXPECT_EQ(at(10, 10), 0U);
}

} // namespace
} // namespace troupe
