// Streams: B1, B2, B6, B7. Of B7 the capturing and the persistent stream are left out: only the C
// facade has captures and persistent streams.

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/behaviour/side_thread.hpp"
#include "tests/support/stage.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

using streams = stage_test;

// -- B1 -----------------------------------------------------------------------

TEST_F(streams, B1_query_says_complete_only_after_the_last_task_has_ended) {
  LIVE_ONLY("its kernels wait for the test");
  gate hold;
  std::atomic<bool> ended = false;
  int effect = 0; // not atomic: a true answer makes it visible
  ASSERT_THAT(s.launch("long", [&] {
                hold.pass();
                effect = 7;
                ended = true;
              }), IsOk());
  hold.await_arrivals();
  for (int i = 0; i < 100; ++i) ASSERT_FALSE(s.query().value()) << "one task in flight";
  test_thread asker([&] {
    await([&] { return s.query().value(); });
    EXPECT_TRUE(ended);
    EXPECT_EQ(effect, 7);
  });
  hold.open();
  asker.join();
}

TEST_F(streams, B1_synchronise_returns_only_after_the_last_task_has_ended) {
  for (int i = 0; i < 50; ++i) {
    int effect = 0;
    ASSERT_THAT(s.launch("first", [&effect] { effect = 1; }), IsOk());
    ASSERT_THAT(s.callback("second", [&effect] { effect += 10; }), IsOk());
    ASSERT_THAT(s.launch("third", [&effect] { effect *= 2; }), IsOk());
    ASSERT_THAT(s.synchronize(), IsOk());
    ASSERT_EQ(effect, 22);
  }
}

TEST_F(streams, B1_a_stream_that_only_waits_for_an_event_is_not_complete) {
  const auto go = rt.create_signal();
  const auto mark = ctx.create_event().value();
  auto other = ctx.create_stream().value();
  ASSERT_THAT(other.wait(go), IsOk());
  ASSERT_THAT(other.record(mark), IsOk());
  ASSERT_THAT(s.wait(mark), IsOk());
  EXPECT_FALSE(s.query().value());
  EXPECT_FALSE(other.query().value());
  go.raise();
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_TRUE(s.query().value());
}

TEST_F(streams, B1_query_answers_for_what_was_submitted_up_to_now) {
  EXPECT_TRUE(s.query().value()) << "nothing was ever submitted";
  ASSERT_THAT(s.launch("done", [] {}), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_TRUE(s.query().value());
  const auto go = rt.create_signal();
  ASSERT_THAT(s.wait(go), IsOk());
  EXPECT_FALSE(s.query().value());
  go.raise();
  EXPECT_THAT(s.synchronize(), IsOk());
}

// -- B2 -----------------------------------------------------------------------

TEST_F(streams, B2_others_submit_and_query_while_a_thread_synchronises) {
  const auto go = rt.create_signal();
  ASSERT_THAT(s.wait(go), IsOk());
  side_thread waiter([this] { return s.synchronize(); });
  ASSERT_TRUE(waiter.waits_for(s));
  for (int i = 0; i < 1'000; ++i) { // all of them end although the stream is stuck
    ASSERT_THAT(s.launch("behind", [] {}), IsOk());
    ASSERT_FALSE(s.query().value());
  }
  auto unrelated = ctx.create_event().value();
  EXPECT_THAT(unrelated.destroy(), IsOk());
  EXPECT_FALSE(waiter.ended());
  go.raise();
  EXPECT_THAT(waiter.join(), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
}

// Each task ends only once there is another behind it, so that the stream is never empty and a
// thread that waited for an empty stream would wait for ever.
TEST_F(streams, B2_a_synchronising_thread_is_not_held_up_by_what_is_submitted_later) {
  LIVE_ONLY("its kernels wait for the test");
  std::atomic<int> submitted = 0;
  std::atomic<bool> back = false;
  const auto submit = [&] {
    const int mine = submitted + 1;
    const auto outcome = s.launch("followed", [&, mine] {
      while (submitted <= mine && !back) std::this_thread::yield();
    });
    ++submitted;
    return outcome;
  };
  ASSERT_THAT(submit(), IsOk());
  test_thread waiter([&] {
    EXPECT_THAT(s.synchronize(), IsOk());
    back = true;
  });
  while (!back) ASSERT_THAT(submit(), IsOk());
  waiter.join();
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(streams, B2_many_threads_synchronise_one_stream) {
  const auto go = rt.create_signal();
  std::atomic<bool> ran = false;
  ASSERT_THAT(s.wait(go), IsOk());
  ASSERT_THAT(s.launch("work", [&ran] { ran = true; }), IsOk());
  std::vector<test_thread> waiters;
  for (int i = 0; i < 8; ++i) {
    waiters.emplace_back([&] {
      EXPECT_THAT(s.synchronize(), IsOk());
      EXPECT_TRUE(ran);
    });
  }
  go.raise();
  for (auto& each : waiters) each.join();
}

// -- B6 -----------------------------------------------------------------------

TEST_F(streams, B6_a_blocking_copy_has_no_order_with_streams) {
  auto memory = ctx.allocate<unsigned char>(64, initial::cleared).value();
  const auto go = rt.create_signal();
  ASSERT_THAT(s.wait(go), IsOk());
  ASSERT_THAT(s.fill_bytes(memory, 9), IsOk());
  std::vector<unsigned char> seen(64, 1);
  ASSERT_THAT(ctx.copy(seen, memory), IsOk());
  EXPECT_EQ(seen, std::vector<unsigned char>(64, 0)) << "the old bytes";
  EXPECT_FALSE(s.query().value());
  go.raise();
  ASSERT_THAT(s.synchronize(), IsOk());
  ASSERT_THAT(ctx.copy(seen, memory), IsOk());
  EXPECT_EQ(seen, std::vector<unsigned char>(64, 9));
}

TEST_F(streams, B6_the_default_stream_has_no_order_with_others) {
  auto unnamed = ctx.default_stream().value();
  const auto hold_unnamed = rt.create_signal();
  const auto hold_named = rt.create_signal();
  ASSERT_THAT(unnamed.wait(hold_unnamed), IsOk());
  ASSERT_THAT(s.launch("passes", [] {}), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_FALSE(unnamed.query().value());
  ASSERT_THAT(s.wait(hold_named), IsOk());
  hold_unnamed.raise();
  EXPECT_THAT(unnamed.synchronize(), IsOk());
  EXPECT_FALSE(s.query().value());
  hold_named.raise();
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(streams, B6_the_default_stream_belongs_to_the_context_and_cannot_be_destroyed) {
  auto unnamed = ctx.default_stream().value();
  test_thread([&] {
    ASSERT_THAT(ctx.bind(), IsOk());
    EXPECT_EQ(current::default_stream().value().id(), unnamed.id());
  }).join();
  EXPECT_NE(dev.create_context().value().default_stream().value().id(), unnamed.id());
  EXPECT_THAT(unnamed.destroy(), HasCode(code::invalid_parameter));
  EXPECT_THAT(unnamed.destroy(true), HasCode(code::invalid_parameter));
  EXPECT_THAT(unnamed.launch("still there", [] {}), IsOk());
  EXPECT_THAT(unnamed.synchronize(), IsOk());
}

TEST_F(streams, B6_threads_that_name_no_stream_share_one_order) {
  constexpr int each_submits = 200;
  std::vector<int> order; // not guarded: tasks of one stream never overlap
  const auto feed = [&](int first) {
    ASSERT_THAT(ctx.bind(), IsOk());
    for (int i = 0; i < each_submits; ++i) {
      ASSERT_THAT(current::default_stream().value().launch(
                      "append", [&order, value = first + i] { order.push_back(value); }),
                  IsOk());
    }
  };
  test_thread one([&] { feed(0); });
  test_thread two([&] { feed(1'000); });
  one.join();
  two.join();
  ASSERT_THAT(ctx.synchronize(), IsOk());
  ASSERT_EQ(order.size(), std::size_t{2 * each_submits});
  int next_low = 0;
  int next_high = 1'000;
  for (const int value : order) EXPECT_EQ(value, value < 1'000 ? next_low++ : next_high++);
}

// -- B7 -----------------------------------------------------------------------

TEST_F(streams, B7_a_context_waits_for_its_own_streams_and_not_for_a_neighbours) {
  const auto neighbour = dev.create_context().value();
  auto stuck = neighbour.create_stream().value();
  const auto go = rt.create_signal();
  ASSERT_THAT(stuck.wait(go), IsOk());
  std::atomic<int> ran = 0;
  auto second = ctx.create_stream().value();
  for (auto* each : {&s, &second}) {
    ASSERT_THAT(each->launch("count", [&ran] { ++ran; }), IsOk());
  }
  ASSERT_THAT(ctx.default_stream().value().launch("count", [&ran] { ++ran; }), IsOk());
  EXPECT_THAT(ctx.synchronize(), IsOk());
  EXPECT_EQ(ran, 3);
  EXPECT_THAT(neighbour.synchronize(20ms), HasCode(code::stream_sync_timeout));
  go.raise();
  EXPECT_THAT(neighbour.synchronize(), IsOk());
}

TEST_F(streams, B7_a_context_waits_for_its_default_stream_too) {
  const auto go = rt.create_signal();
  ASSERT_THAT(ctx.default_stream().value().wait(go), IsOk());
  EXPECT_THAT(ctx.synchronize(20ms), HasCode(code::stream_sync_timeout));
  go.raise();
  EXPECT_THAT(ctx.synchronize(), IsOk());
}

TEST_F(streams, B7_work_of_streams_whose_handles_are_gone_is_waited_for) {
  const auto go = rt.create_signal();
  std::atomic<bool> ran = false;
  {
    auto forgotten = ctx.create_stream().value();
    ASSERT_THAT(forgotten.wait(go), IsOk());
    ASSERT_THAT(forgotten.launch("left behind", [&ran] { ran = true; }), IsOk());
  }
  EXPECT_THAT(ctx.synchronize(20ms), HasCode(code::stream_sync_timeout));
  go.raise();
  EXPECT_THAT(ctx.synchronize(), IsOk());
  EXPECT_TRUE(ran);
}

} // namespace
} // namespace troupe
