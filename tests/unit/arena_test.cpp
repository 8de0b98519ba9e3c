#include "actors/arena.hpp"

#include <new>

#include <gtest/gtest.h>

namespace troupe {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

TEST(arena, knows_its_addresses) {
  const arena a(10 * mib + 1);
  EXPECT_GE(a.bytes(), 10 * mib + 1);
  EXPECT_TRUE(a.contains(a.base()));
  EXPECT_TRUE(a.contains(a.base() + a.bytes() - 1));
  EXPECT_FALSE(a.contains(a.base() + a.bytes()));
  EXPECT_FALSE(a.contains(a.base() - 1));
  EXPECT_FALSE(a.contains(nullptr));
}

TEST(arena, is_used_where_it_was_opened_and_forgets_what_was_discarded) {
  arena a(std::uint64_t{1} << 40); // far more than any host has
  ASSERT_TRUE(a.open(512 * mib + 100, 2 * mib));
  auto* at = a.base() + 512 * mib + 100;
  at[0] = std::byte{5};
  at[2 * mib - 1] = std::byte{6};
  ASSERT_TRUE(a.open(512 * mib, mib)); // again, overlapping: contents stay
  EXPECT_EQ(at[0], std::byte{5});
  a.discard(512 * mib, mib);
  EXPECT_EQ(at[0], std::byte{0});
  EXPECT_EQ(at[2 * mib - 1], std::byte{6});
}

TEST(arena, begins_closed_and_empty_whatever_was_there_before) {
  constexpr auto bytes = 3 * mib;
  for (int round = 0; round < 20; ++round) {
    arena used(bytes);
    const arena unused(bytes);
    ASSERT_TRUE(used.open(0, bytes));
    ASSERT_EQ(used.base()[0], std::byte{0}) << round;
    ASSERT_EQ(used.base()[bytes - 1], std::byte{0}) << round;
    used.base()[0] = used.base()[bytes - 1] = std::byte{1};
    ASSERT_NE(used.base(), unused.base());
  }
  EXPECT_DEATH({
    const arena closed(bytes);
    *static_cast<volatile std::byte*>(closed.base()) = std::byte{1};
  }, "");
}

TEST(arena, says_when_there_is_no_such_range) {
  EXPECT_THROW(arena(std::uint64_t{1} << 60), std::bad_alloc);
}

TEST(memory_budget, charges_up_to_the_limit_and_not_a_byte_more) {
  const auto before = memory_budget::charged();
  EXPECT_TRUE(memory_budget::charge(60, before + 100));
  EXPECT_FALSE(memory_budget::charge(41, before + 100));
  EXPECT_EQ(memory_budget::charged(), before + 60);
  EXPECT_TRUE(memory_budget::charge(40, before + 100));
  EXPECT_FALSE(memory_budget::charge(1, before + 50)) << "above a lower limit already";
  EXPECT_FALSE(memory_budget::charge(UINT64_MAX, UINT64_MAX)) << "the sum must not wrap";
  memory_budget::release(100);
  EXPECT_EQ(memory_budget::charged(), before);
}

TEST(host_memory, is_some) { EXPECT_GT(host_memory_bytes(), 16 * mib); }

} // namespace
} // namespace troupe
