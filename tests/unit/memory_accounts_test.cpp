#include "core/memory_accounts.hpp"

#include <gtest/gtest.h>

namespace troupe {
namespace {

TEST(memory_accounts, limit_is_to_the_byte_and_counts_what_blocks_occupy) {
  memory_accounts books;
  books.set_limit(1, 1000);
  EXPECT_TRUE(books.has_room(1, 1000));
  EXPECT_FALSE(books.has_room(1, 1001));
  books.add(1, 600, 550);
  EXPECT_TRUE(books.has_room(1, 400));
  EXPECT_FALSE(books.has_room(1, 401));
  EXPECT_FALSE(books.has_room(1, UINT64_MAX)) << "a sum that would wrap";
  EXPECT_TRUE(books.has_room(2, UINT64_MAX)) << "no limit";
}

TEST(memory_accounts, limit_below_what_is_used_leaves_no_room) {
  memory_accounts books;
  books.add(1, 600, 600);
  books.set_limit(1, 500);
  EXPECT_FALSE(books.has_room(1, 1));
}

TEST(memory_accounts, figures_follow_blocks_through_quarantine) {
  memory_accounts books;
  books.add(1, 512, 500);
  books.add(1, 1024, 1000);
  books.quarantine(1, 512);
  EXPECT_EQ(books.of(1).quarantined, 512U);
  EXPECT_EQ(books.of(1).used, 1536U);
  books.leave_quarantine(1, 512);
  books.remove(1, 512, 500);
  const auto seen = books.of(1);
  EXPECT_EQ(seen.used, 1024U);
  EXPECT_EQ(seen.requested, 1000U);
  EXPECT_EQ(seen.quarantined, 0U);
  EXPECT_EQ(seen.high_water, 1536U);
  EXPECT_EQ(seen.blocks, 1U);
}

TEST(memory_accounts, closed_account_is_forgotten_with_its_last_block) {
  memory_accounts books;
  books.set_limit(1, 1000);
  books.add(1, 512, 512);
  books.close(1);
  EXPECT_EQ(books.of(1).limit, 1000U);
  books.remove(1, 512, 512);
  EXPECT_EQ(books.of(1).limit, 0U);
  EXPECT_EQ(books.of(1).high_water, 0U);
}

} // namespace
} // namespace troupe
