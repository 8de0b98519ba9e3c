#include "actors/pool_record.hpp"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace troupe {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

class pool_record_test : public ::testing::Test {
protected:
  void SetUp() override {
    mine->accept(1);
    other->accept(1);
    pool.add_slab({memory.data(), memory.size()});
  }

  std::vector<std::byte> memory = std::vector<std::byte>(64 * 1024);
  std::shared_ptr<timeline> mine = std::make_shared<timeline>(1);
  std::shared_ptr<timeline> other = std::make_shared<timeline>(2);
  pool_record pool{nullptr};
};

TEST_F(pool_record_test, has_four_size_classes_to_each_power_of_two) {
  EXPECT_EQ(pool_record::size_class(1), 512U);
  EXPECT_EQ(pool_record::size_class(512), 512U);
  EXPECT_EQ(pool_record::size_class(513), 1024U);
  EXPECT_EQ(pool_record::size_class(4096), 4096U);
  EXPECT_EQ(pool_record::size_class(4097), 5120U);
  EXPECT_EQ(pool_record::size_class(7169), 8192U);
  for (std::uint64_t bytes = 1; bytes < 100'000; bytes += 97) {
    const auto size = pool_record::size_class(bytes);
    ASSERT_GE(size, bytes);
    ASSERT_EQ(pool_record::size_class(size), size) << "a class is of its own class";
    if (bytes > 2048) { ASSERT_LE(size, bytes + bytes / 4 + 1); }
  }
}

TEST_F(pool_record_test, E6_size_class_never_wraps) {
  for (const std::uint64_t less : {0U, 1U, 100U}) {
    EXPECT_GE(pool_record::size_class(UINT64_MAX - less), UINT64_MAX - less);
    EXPECT_GE(pool.slab_bytes_for(UINT64_MAX - less), UINT64_MAX - less);
    EXPECT_FALSE(pool.take(UINT64_MAX - less, *mine).has_value());
  }
  const auto half = std::uint64_t{1} << 63;
  EXPECT_EQ(pool_record::size_class(half), half);
  EXPECT_EQ(pool_record::size_class(half + 1), half + half / 4);
  EXPECT_EQ(pool.counters().used, 0U);
}

TEST_F(pool_record_test, E2_block_with_uses_elsewhere_waits_for_them_on_its_own_stream_too) {
  const auto first = pool.take(1000, *mine).value();
  pool.put_back(first, {mine, 1}, {{other, 1}});
  EXPECT_NE(pool.take(1000, *mine).value().data, first.data);
  ASSERT_TRUE(other->complete(1));
  EXPECT_EQ(pool.take(1000, *mine).value().data, first.data);
}

TEST_F(pool_record_test, knows_its_blocks_by_any_address_in_them_and_whether_they_are_in_use) {
  const auto first = pool.take(1000, *mine).value();
  const auto second = pool.take(600, *mine).value();
  const auto seen = pool.use_part(first.data + 999, mine.get());
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->data, first.data);
  EXPECT_EQ(seen->bytes, 1000U);
  EXPECT_TRUE(seen->in_use);
  EXPECT_EQ(pool_record::uses_of(first), pool_record::reach::own_stream);
  (void)pool.use_part(second.data, other.get());
  EXPECT_EQ(pool_record::uses_of(second), pool_record::reach::other_streams);
  pool.put_back(first, {mine, 0});
  EXPECT_FALSE(pool.use_part(first.data, mine.get())->in_use);
  EXPECT_FALSE(pool.use_part(memory.data() + 32 * 1024, mine.get()).has_value());
}

TEST_F(pool_record_test, grows_by_slabs_of_2_mib_at_least) {
  EXPECT_EQ(pool.slab_bytes_for(1), 2 * mib);
  EXPECT_EQ(pool.slab_bytes_for(5 * mib), 5 * mib);
}

TEST_F(pool_record_test, keeps_a_slab_that_nobody_has_used_yet_for_whom_it_was_taken) {
  EXPECT_TRUE(pool.take_surplus().empty());
  const auto first = pool.take(1000, *mine).value();
  EXPECT_TRUE(pool.take_surplus().empty()) << "in use";
  pool.put_back(first, {mine, 0});
  EXPECT_EQ(pool.take_surplus().size(), 1U);
}

TEST_F(pool_record_test, reuses_a_block_on_its_own_stream_at_once) {
  const auto first = pool.take(1000, *mine).value();
  pool.put_back(first, {mine, 1}); // not ended
  EXPECT_EQ(pool.take(900, *mine).value().data, first.data);
  EXPECT_EQ(pool.counters().reused, 1U);
}

TEST_F(pool_record_test, reuses_a_block_on_another_stream_only_when_its_ticket_has_ended) {
  const auto first = pool.take(1000, *mine).value();
  pool.put_back(first, {mine, 1});
  const auto second = pool.take(1000, *other).value();
  EXPECT_NE(second.data, first.data);
  ASSERT_TRUE(mine->complete(1));
  EXPECT_EQ(pool.take(1000, *other).value().data, first.data);
}

TEST_F(pool_record_test, does_not_reuse_what_an_abandoned_kernel_may_still_write) {
  const auto first = pool.take(1000, *mine).value();
  ASSERT_TRUE(mine->complete(1));
  mine->accept(2); // the kernel that uses it
  pool.put_back(first, {mine, 2});
  mine->abort();
  ASSERT_TRUE(mine->complete_aborted(2));
  EXPECT_NE(pool.take(1000, *mine).value().data, first.data);
  mine->stray_returned(2);
  EXPECT_EQ(pool.take(1000, *other).value().data, first.data);
}

TEST_F(pool_record_test, asks_to_grow_when_nothing_fits) {
  EXPECT_FALSE(pool.take(memory.size() + 1, *mine).has_value());
  const auto all = pool.take(memory.size(), *mine);
  ASSERT_TRUE(all.has_value());
  EXPECT_FALSE(pool.take(1, *mine).has_value());
}

TEST_F(pool_record_test, keeps_the_rest_of_a_slab_when_it_grows) {
  ASSERT_TRUE(pool.take(40 * 1024, *mine).has_value());
  std::vector<std::byte> more(32 * 1024);
  pool.add_slab({more.data(), more.size()});
  const auto rest = pool.take(24 * 1024, *mine).value();
  EXPECT_GE(rest.data, memory.data());
  EXPECT_LT(rest.data, memory.data() + memory.size());
  EXPECT_EQ(pool.counters().grown, 2U);
  EXPECT_EQ(pool.counters().reserved, memory.size() + more.size());
}

TEST_F(pool_record_test, counts_what_is_handed_out) {
  const auto first = pool.take(1000, *mine).value();
  const auto second = pool.take(600, *mine).value();
  EXPECT_EQ(pool.counters().used, 2048U);
  pool.put_back(first, {mine, 0});
  pool.put_back(second, {mine, 0});
  const auto seen = pool.counters();
  EXPECT_EQ(seen.used, 0U);
  EXPECT_EQ(seen.used_high_water, 2048U);
  EXPECT_EQ(seen.allocations, 2U);
}

TEST_F(pool_record_test, tells_of_a_block_reused_before_its_kernel_was_given_up_on) {
  const auto first = pool.take(1000, *mine).value();
  ASSERT_TRUE(mine->complete(1));
  mine->accept(2); // the kernel that uses it
  pool.put_back(first, {mine, 2});
  const auto again = pool.take(1000, *mine).value();
  ASSERT_EQ(again.data, first.data);
  EXPECT_FALSE(pool.use_part(again.data, nullptr)->contested);
  mine->abort();
  ASSERT_TRUE(mine->complete_aborted(2));
  EXPECT_TRUE(pool.use_part(again.data, nullptr)->contested);
  const auto other_block = pool.take(1000, *mine).value();
  EXPECT_FALSE(pool.use_part(other_block.data, nullptr)->contested);
  pool.put_back(again, {mine, 2});
  EXPECT_NE(pool.take(1000, *mine).value().data, first.data);
  mine->stray_returned(2);
  EXPECT_EQ(pool.take(1000, *mine).value().data, first.data);
  EXPECT_FALSE(pool.use_part(first.data, nullptr)->contested);
}

TEST_F(pool_record_test, does_not_reuse_what_an_abort_waits_for) {
  const auto first = pool.take(1000, *mine).value();
  ASSERT_TRUE(mine->complete(1));
  mine->accept(2); // the kernel that uses it
  mine->abort();
  const auto later = pool.take(1000, *mine).value();
  mine->accept(3);
  pool.put_back(later, {mine, 3});
  pool.put_back(first, {mine, 3});
  EXPECT_EQ(pool.take(1000, *mine).value().data, later.data) << "taken after the abort";
  EXPECT_NE(pool.take(1000, *mine).value().data, first.data);
  ASSERT_TRUE(mine->complete(2));
  EXPECT_EQ(pool.take(1000, *mine).value().data, first.data);
}

TEST_F(pool_record_test, finds_a_block_that_has_become_free_among_any_number_that_have_not) {
  std::vector<pool_record::piece> all;
  for (auto i = std::size_t{0}; i < memory.size() / 1024; ++i) {
    all.push_back(pool.take(1024, *mine).value());
  }
  EXPECT_FALSE(pool.take(1024, *mine).has_value());
  const auto middle = all.size() / 2;
  for (std::size_t i = 0; i < all.size(); ++i) {
    pool.put_back(all[i], {mine, i == middle ? 0U : 1U});
  }
  EXPECT_EQ(pool.take(1024, *other).value().data, all[middle].data);
  EXPECT_FALSE(pool.take(1024, *other).has_value());
}

TEST_F(pool_record_test, divides_a_slab_anew_once_nothing_of_it_is_used) {
  const auto first = pool.take(1000, *mine).value();
  const auto second = pool.take(600, *mine).value();
  pool.put_back(first, {mine, 0});
  EXPECT_FALSE(pool.take(memory.size(), *mine).has_value()) << "one is in use";
  pool.put_back(second, {mine, 1});
  EXPECT_FALSE(pool.take(memory.size(), *mine).has_value()) << "one may be touched";
  EXPECT_TRUE(pool.take_idle().empty());
  ASSERT_TRUE(mine->complete(1));
  const auto whole = pool.take(memory.size(), *mine).value();
  EXPECT_EQ(whole.data, memory.data());
  EXPECT_FALSE(pool.take(1, *mine).has_value());
  EXPECT_TRUE(pool.take_idle().empty());
  pool.put_back(whole, {mine, 1});
  ASSERT_EQ(pool.take_idle().size(), 1U);
  EXPECT_FALSE(pool.take(1, *mine).has_value());
  EXPECT_EQ(pool.counters().reserved, 0U);
}

TEST_F(pool_record_test, surrenders_its_slabs_once) {
  const auto slabs = pool.surrender();
  ASSERT_EQ(slabs.size(), 1U);
  EXPECT_EQ(slabs[0].data, memory.data());
  EXPECT_TRUE(pool.surrender().empty());
  EXPECT_FALSE(pool.take(1, *mine).has_value());
  EXPECT_EQ(pool.counters().reserved, 0U);
}

} // namespace
} // namespace troupe
