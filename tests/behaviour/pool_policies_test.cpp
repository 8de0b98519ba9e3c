// To whom a pool gives a freed block: its own stream, one that comes after by events, or any once all
// is seen to have ended; and the figures that tell (E2, E5).

#include <algorithm>
#include <vector>

#include "tests/support/stage.hpp"

namespace troupe {
namespace {

constexpr std::size_t count = 1000;
constexpr std::size_t class_bytes = 4096; // what that many ints occupy

class pool_policies : public stage_test {
protected:
  [[nodiscard]] pool pool_of(bool follow, bool lucky) const {
    pool_options made;
    made.release_threshold_bytes = UINT64_MAX;
    made.follow_events = follow;
    made.opportunistic = lucky;
    return ctx.create_pool(made).value();
  }
  // A block of `user`, freed while what uses it waits for `hold`, and `done` recorded behind.
  const int* freed_at_work(const pool& from, stream& user) {
    const auto block = from.allocate<int>(user, count).value();
    EXPECT_THAT(user.wait(hold), IsOk());
    EXPECT_THAT(user.fill_bytes(block, 1), IsOk());
    EXPECT_THAT(user.record(done), IsOk());
    return block.data();
  }

  stream other = ctx.create_stream().value();
  event done = ctx.create_event().value();
  signal hold = rt.create_signal();
};

TEST_F(pool_policies, E2_a_stream_that_waits_for_the_event_gets_the_block_while_work_goes_on) {
  const auto from = pool_of(true, false);
  const auto* block = freed_at_work(from, s);
  const auto apart = from.allocate<int>(other, count).value();
  EXPECT_NE(apart.data(), block) << "it has not waited";
  ASSERT_THAT(other.wait(done), IsOk());
  const auto mine = from.allocate<int>(other, count).value();
  EXPECT_EQ(mine.data(), block);
  EXPECT_EQ(from.counters().followed, 1U);
  ASSERT_THAT(other.fill_bytes(mine, 2), IsOk());
  std::vector<int> seen(count);
  hold.raise();
  ASSERT_THAT(other.copy(seen, mine), IsOk());
  EXPECT_EQ(seen, std::vector<int>(count, 0x02020202)) << "in the order of the event";
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(pool_policies, E2_an_event_recorded_before_the_free_is_not_enough) {
  const auto from = pool_of(true, false);
  {
    const auto block = from.allocate<int>(s, count).value();
    ASSERT_THAT(s.wait(hold), IsOk());
    ASSERT_THAT(s.record(done), IsOk());
    ASSERT_THAT(s.fill_bytes(block, 1), IsOk());
  }
  ASSERT_THAT(other.wait(done), IsOk());
  ASSERT_THAT(from.allocate<int>(other, count), IsOk());
  EXPECT_EQ(from.counters().followed, 0U);
  hold.raise();
}

TEST_F(pool_policies, E2_events_reach_through_a_third_stream) {
  const auto from = pool_of(true, false);
  auto between = ctx.create_stream().value();
  auto next = ctx.create_event().value();
  const auto* block = freed_at_work(from, s);
  ASSERT_THAT(between.wait(done), IsOk());
  ASSERT_THAT(between.record(next), IsOk());
  ASSERT_THAT(other.wait(next), IsOk());
  EXPECT_EQ(from.allocate<int>(other, count).value().data(), block);
  hold.raise();
}

// What is told must not depend on how fast the work was.
TEST_F(pool_policies, E2_a_wait_for_an_event_that_was_reached_before_counts_as_much) {
  const auto from = pool_of(true, false);
  const auto* block = freed_at_work(from, s);
  hold.raise();
  ASSERT_THAT(s.synchronize(), IsOk());
  const auto apart = from.allocate<int>(other, count).value();
  EXPECT_NE(apart.data(), block) << "it has not waited";
  ASSERT_THAT(other.wait(done), IsOk());
  EXPECT_EQ(from.allocate<int>(other, count).value().data(), block);
}

TEST_F(pool_policies, E2_each_policy_can_be_left_out) {
  const auto beside = pool_of(true, true); // so that waits are known
  for (const bool follow : {false, true}) {
    for (const bool lucky : {false, true}) {
      auto at_work = rt.create_signal();
      hold = at_work;
      const auto from = pool_of(follow, lucky);
      const auto* block = freed_at_work(from, s);
      ASSERT_THAT(other.wait(done), IsOk());
      EXPECT_EQ(from.allocate<int>(other, count).value().data() == block, follow);
      at_work.raise();
      ASSERT_THAT(s.launch("more", [] {}), IsOk()); // for which nobody waits by an event
      ASSERT_THAT(ctx.synchronize(), IsOk());
      const auto idle = pool_of(follow, lucky);
      const auto* rest = idle.allocate<int>(s, count).value().data();
      EXPECT_EQ(idle.allocate<int>(s, count).value().data(), rest) << "stream order, always";
      EXPECT_EQ(idle.allocate<int>(other, count).value().data() == rest, lucky);
    }
  }
}

TEST_F(pool_policies, E2_a_wait_that_may_expire_is_no_order) {
  const auto from = pool_of(true, false);
  const auto* block = freed_at_work(from, s);
  ASSERT_THAT(other.wait(done, timeout(60'000)), IsOk());
  EXPECT_NE(from.allocate<int>(other, count).value().data(), block);
  hold.raise();
}

TEST_F(pool_policies, E2_a_stream_whose_wait_an_abort_dropped_is_kept_off_the_block) {
  const auto from = pool_of(true, false);
  const auto* block = freed_at_work(from, s);
  ASSERT_THAT(other.wait(done), IsOk());
  const auto mine = from.allocate<int>(other, count).value();
  ASSERT_EQ(mine.data(), block);
  ASSERT_THAT(other.abort(), IsOk());
  ASSERT_THAT(other.fill_bytes(mine, 2), IsOk());
  EXPECT_THAT(other.synchronize(), HasCode(code::device_task_abort)) << "the fill of the other is due";
  hold.raise();
  ASSERT_THAT(s.synchronize(), IsOk());
  ASSERT_THAT(other.fill_bytes(mine, 2), IsOk());
  EXPECT_THAT(other.synchronize(), IsOk());
}

TEST_F(pool_policies, E2_so_is_one_whose_dropped_wait_was_for_the_use_of_another_stream) {
  const auto from = pool_of(true, false);
  auto block = from.allocate<int>(s, count).value();
  ASSERT_THAT(other.wait(hold), IsOk());
  ASSERT_THAT(other.fill_bytes(block, 1), IsOk());
  ASSERT_THAT(other.record(done), IsOk());
  ASSERT_THAT(s.wait(done), IsOk());
  const auto* data = block.data();
  block = {};
  const auto mine = from.allocate<int>(s, count).value();
  ASSERT_EQ(mine.data(), data);
  EXPECT_EQ(from.counters().followed, 1U);
  ASSERT_THAT(s.abort(), IsOk());
  ASSERT_THAT(s.fill_bytes(mine, 2), IsOk());
  EXPECT_THAT(s.synchronize(), HasCode(code::device_task_abort));
  hold.raise();
  ASSERT_THAT(other.synchronize(), IsOk());
  ASSERT_THAT(s.fill_bytes(mine, 2), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(pool_policies, E2_freed_on_another_stream_without_an_order_is_reported_and_kept_aside) {
  const auto from = pool_of(true, true);
  auto block = from.allocate<int>(s, count).value();
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.fill_bytes(block, 1), IsOk());
  ASSERT_THAT(other.fill_bytes(block, 2), IsOk());
  const auto* data = block.data();
  ASSERT_THAT(block.free(other), IsOk());
  EXPECT_THAT(block.free(other), HasCode(code::invalid_parameter)) << "freed already";
  const auto told = rt.diagnostics();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].what, diagnostic::kind::freed_in_use);
  EXPECT_EQ(told[0].stream, s.id());
  EXPECT_NE(from.allocate<int>(other, count).value().data(), data);
  hold.raise();
  ASSERT_THAT(ctx.synchronize(), IsOk());
}

TEST_F(pool_policies, E2_freed_on_another_stream_that_waited_is_clean_and_goes_on_there) {
  const auto from = pool_of(true, true);
  auto block = from.allocate<int>(s, count).value();
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.fill_bytes(block, 1), IsOk());
  ASSERT_THAT(s.record(done), IsOk());
  ASSERT_THAT(other.wait(done), IsOk());
  ASSERT_THAT(other.fill_bytes(block, 2), IsOk());
  const auto* data = block.data();
  ASSERT_THAT(block.free(other), IsOk());
  EXPECT_TRUE(rt.diagnostics().empty());
  EXPECT_EQ(from.counters().pending_free, class_bytes);
  EXPECT_EQ(from.allocate<int>(other, count).value().data(), data) << "in stream order";
  hold.raise();
  ASSERT_THAT(ctx.synchronize(), IsOk());
  EXPECT_EQ(from.counters().pending_free, 0U);
}

TEST_F(pool_policies, a_free_at_a_stream_that_will_not_do_changes_nothing) {
  const auto from = pool_of(true, true);
  auto block = from.allocate<int>(s, count).value();
  EXPECT_THAT(block.free(stream()), HasCode(code::invalid_handle));
  const auto apart = dev.create_context().value();
  EXPECT_THAT(block.free(apart.create_stream().value()), HasCode(code::stream_context));
  EXPECT_EQ(from.counters().used, class_bytes);
  ASSERT_THAT(block.free(s), IsOk());
  EXPECT_EQ(from.counters().used, 0U);
}

TEST_F(pool_policies, E5_used_cached_pending_and_largest_free_add_up) {
  const auto from = pool_of(true, true);
  EXPECT_EQ(from.counters().reserved, 0U);
  const auto kept = from.allocate<int>(s, count).value();
  (void)freed_at_work(from, s);
  auto seen = from.counters();
  EXPECT_EQ(seen.used, class_bytes);
  EXPECT_EQ(seen.pending_free, class_bytes);
  EXPECT_EQ(seen.cached, seen.reserved - 2 * class_bytes);
  EXPECT_EQ(seen.largest_free, seen.cached) << "the part of the slab that nobody had";
  hold.raise();
  ASSERT_THAT(s.synchronize(), IsOk());
  seen = from.counters();
  EXPECT_EQ(seen.pending_free, 0U);
  EXPECT_EQ(seen.cached, seen.reserved - class_bytes);
  EXPECT_EQ(seen.used_high_water, 2 * class_bytes);
}

} // namespace
} // namespace troupe
