// Events: C1, C2, C4, C6, C7. Left out, as only the C facade has them: C8 (reset-style events),
// and of C6 the rows for captured, external and inter-process events. Exact durations need a
// virtual clock; here they are bracketed by measurements on the same clock.

#include <array>
#include <atomic>
#include <chrono>
#include <vector>

#include "tests/support/stage.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using real_time = std::chrono::steady_clock;

class events : public stage_test {
protected:
  stream other = ctx.create_stream().value();
};

/// A task that takes at least `length` of device time.
auto lasting(std::chrono::milliseconds length) {
  return [length] {
    const auto begin = real_time::now();
    while (real_time::now() - begin < length) {
    }
  };
}

// -- C1 -----------------------------------------------------------------------

TEST_F(events, C1_a_wait_keeps_the_record_that_was_the_last_when_it_was_submitted) {
  const auto first = rt.create_signal();
  const auto second = rt.create_signal();
  const auto mark = ctx.create_event().value();
  ASSERT_THAT(s.wait(first), IsOk());
  ASSERT_THAT(s.record(mark), IsOk());
  ASSERT_THAT(other.wait(mark), IsOk());
  ASSERT_THAT(s.wait(second), IsOk());
  ASSERT_THAT(s.record(mark), IsOk());
  EXPECT_FALSE(other.query().value());
  first.raise();
  EXPECT_THAT(other.synchronize(), IsOk());
  EXPECT_FALSE(mark.query().value()) << "it means the second record now";
  second.raise();
  EXPECT_THAT(mark.synchronize(), IsOk());
  EXPECT_TRUE(mark.query().value());
}

TEST_F(events, C1_a_wait_takes_the_newest_record) {
  const auto go = rt.create_signal();
  const auto mark = ctx.create_event().value();
  ASSERT_THAT(s.record(mark), IsOk());
  ASSERT_TRUE(mark.query().value());
  ASSERT_THAT(s.wait(go), IsOk());
  ASSERT_THAT(s.record(mark), IsOk());
  ASSERT_THAT(other.wait(mark), IsOk());
  EXPECT_FALSE(other.query().value()) << "the first record does not satisfy it";
  go.raise();
  EXPECT_THAT(other.synchronize(), IsOk());
}

TEST_F(events, C1_a_wait_submitted_between_two_records_orders_work_by_the_first) {
  const auto mark = ctx.create_event().value();
  std::vector<int> order;
  for (int round = 0; round < 100; ++round) {
    ASSERT_THAT(s.launch("write", [&order, round] { order.push_back(2 * round); }), IsOk());
    ASSERT_THAT(s.record(mark), IsOk());
    ASSERT_THAT(other.wait(mark), IsOk());
    ASSERT_THAT(other.launch("write", [&order, round] { order.push_back(2 * round + 1); }), IsOk());
    ASSERT_THAT(other.record(mark), IsOk());
    ASSERT_THAT(s.wait(mark), IsOk());
  }
  ASSERT_THAT(ctx.synchronize(), IsOk());
  ASSERT_EQ(order.size(), 200U);
  for (int i = 0; i < 200; ++i) ASSERT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST_F(events, C1_a_reached_record_stays_reached_however_many_aborts_drop_work_after_it) {
  const auto drop_some = [&] {
    ASSERT_THAT(s.wait(rt.create_signal()), IsOk());
    ASSERT_THAT(s.launch("dropped", [] {}), IsOk());
    ASSERT_THAT(s.abort(), IsOk());
    ASSERT_THAT(s.launch("runs", [] {}), IsOk());
    ASSERT_THAT(s.synchronize(), IsOk());
  };
  auto first = ctx.create_event().value();
  auto last = ctx.create_event().value();
  ASSERT_NO_FATAL_FAILURE(drop_some());
  ASSERT_THAT(s.record(first), IsOk());
  ASSERT_THAT(s.launch("between", [] {}), IsOk());
  ASSERT_THAT(s.record(last), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  constexpr int aborts = 260;
  for (int i = 0; i < aborts; ++i) ASSERT_NO_FATAL_FAILURE(drop_some());
  EXPECT_TRUE(last.query().value());
  EXPECT_THAT(last.synchronize(), IsOk());
  EXPECT_THAT(last.elapsed_since(first), IsOk());
  EXPECT_THAT(other.wait(last), IsOk());
  EXPECT_THAT(other.synchronize(), IsOk());
}

// -- Decisions 1 and 2 ----------------------------------------------------------

TEST_F(events, decisions_1_and_2_a_never_recorded_event_is_complete_and_holds_nobody) {
  const auto mark = ctx.create_event().value();
  EXPECT_TRUE(mark.query().value());
  EXPECT_THAT(mark.synchronize(), IsOk());
  EXPECT_THAT(s.wait(mark), IsOk());
  EXPECT_EQ(s.counters().submitted, 0U) << "no task";
  const auto go = rt.create_signal();
  ASSERT_THAT(other.wait(go), IsOk());
  ASSERT_THAT(other.record(mark), IsOk());
  EXPECT_TRUE(s.query().value()) << "a later record does not count";
  go.raise();
  EXPECT_THAT(other.synchronize(), IsOk());
}

// -- C2 -----------------------------------------------------------------------

TEST_F(events, C2_waiting_in_the_stream_that_recorded_costs_nothing) {
  const auto go = rt.create_signal();
  const auto mark = ctx.create_event().value();
  ASSERT_THAT(s.wait(go), IsOk());
  ASSERT_THAT(s.record(mark), IsOk());
  const auto submitted = s.counters().submitted;
  const auto slots = dev.counters().events;
  EXPECT_THAT(s.wait(mark), IsOk());
  EXPECT_EQ(s.counters().submitted, submitted);
  EXPECT_EQ(dev.counters().events, slots);
  std::atomic<bool> ran = false;
  ASSERT_THAT(s.launch("behind", [&ran] { ran = true; }), IsOk());
  go.raise();
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_TRUE(ran);
}

// -- C4 -----------------------------------------------------------------------

TEST_F(events, C4_the_last_of_several_records_wins_and_the_lost_one_is_reported) {
  const auto go = rt.create_signal();
  const auto mark = ctx.create_event().value();
  ASSERT_THAT(s.wait(go), IsOk());
  ASSERT_THAT(s.record(mark), IsOk());
  ASSERT_THAT(other.record(mark), IsOk());
  EXPECT_THAT(mark.synchronize(), IsOk());
  EXPECT_FALSE(s.query().value()) << "the first record is not waited for";
  const auto notes = rt.diagnostics();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].what, diagnostic::kind::record_overwritten);
  EXPECT_EQ(notes[0].stream, s.id());
  go.raise();
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(events, C4_replacing_a_record_that_was_looked_at_or_reached_is_not_reported) {
  const auto go = rt.create_signal();
  const auto queried = ctx.create_event().value();
  const auto awaited = ctx.create_event().value();
  const auto reached = ctx.create_event().value();
  ASSERT_THAT(s.record(reached), IsOk());
  ASSERT_THAT(other.record(reached), IsOk());
  ASSERT_THAT(s.wait(go), IsOk());
  ASSERT_THAT(s.record(queried), IsOk());
  ASSERT_THAT(s.record(awaited), IsOk());
  EXPECT_FALSE(queried.query().value());
  ASSERT_THAT(ctx.default_stream().value().wait(awaited), IsOk());
  ASSERT_THAT(other.record(queried), IsOk());
  ASSERT_THAT(other.record(awaited), IsOk());
  EXPECT_TRUE(rt.diagnostics().empty());
  go.raise();
  EXPECT_THAT(ctx.synchronize(), IsOk());
}

// -- C6 -----------------------------------------------------------------------

TEST_F(events, C6_elapsed_time_is_device_time_between_the_records) {
  LIVE_ONLY("its kernels take real time");
  const auto go = rt.create_signal();
  const auto begin = ctx.create_event().value();
  const auto end = ctx.create_event().value();
  ASSERT_THAT(s.wait(go), IsOk());
  ASSERT_THAT(s.record(begin), IsOk());
  lasting(50ms)(); // the host is slow between the two submissions
  ASSERT_THAT(s.launch("7 ms", lasting(7ms)), IsOk());
  ASSERT_THAT(s.record(end), IsOk());
  const auto from = real_time::now();
  go.raise();
  ASSERT_THAT(s.synchronize(), IsOk());
  const auto around = real_time::now() - from;
  const auto elapsed = end.elapsed_since(begin).value();
  EXPECT_GE(elapsed, 7ms);
  EXPECT_LE(elapsed, around) << "time of the host's, before the work ran, counted";
}

TEST_F(events, C6_elapsed_time_in_states_that_have_none) {
  const auto go = rt.create_signal();
  const auto never = ctx.create_event().value();
  const auto pending = ctx.create_event().value();
  const auto done = ctx.create_event().value();
  ASSERT_THAT(s.record(done), IsOk());
  ASSERT_THAT(s.wait(go), IsOk());
  ASSERT_THAT(s.record(pending), IsOk());
  EXPECT_THAT(done.elapsed_since(never), HasCode(code::internal_error));
  EXPECT_THAT(never.elapsed_since(done), HasCode(code::internal_error));
  EXPECT_THAT(pending.elapsed_since(done), HasCode(code::event_timestamp_invalid));
  EXPECT_THAT(done.elapsed_since(pending), HasCode(code::event_timestamp_invalid));
  EXPECT_THAT(event().elapsed_since(done), HasCode(code::invalid_handle));
  EXPECT_THAT(done.elapsed_since(done), IsOk()) << "a refusal leaves nothing behind";
  go.raise();
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_THAT(pending.elapsed_since(done), IsOk());
}

TEST_F(events, C6_a_start_after_the_end_is_reported_and_not_made_positive) {
  LIVE_ONLY("its kernels take real time");
  const auto earlier = ctx.create_event().value();
  const auto later = ctx.create_event().value();
  ASSERT_THAT(s.record(earlier), IsOk());
  ASSERT_THAT(s.launch("2 ms", lasting(2ms)), IsOk());
  ASSERT_THAT(s.record(later), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_THAT(earlier.elapsed_since(later),
              AllOf(HasCode(code::event_timestamp_reversal), SaysThat(" ms after")));
  EXPECT_GE(later.elapsed_since(earlier).value(), 2ms);
}

// -- C7 -----------------------------------------------------------------------

runtime_options four_events() {
  auto made = test_options(1);
  made.devices[0].event_limit = 4;
  return made;
}

class few_events : public stage_test {
protected:
  few_events() : stage_test(four_events()) {}

  stream other = ctx.create_stream().value();
};

TEST_F(few_events, C7_the_place_of_a_destroyed_event_is_free_once_nothing_uses_it) {
  const auto go = rt.create_signal();
  std::atomic<int> released = 0;
  auto mark = ctx.create_event().value();
  ASSERT_THAT(s.wait(go), IsOk());
  ASSERT_THAT(s.record(mark), IsOk());
  ASSERT_THAT(s.record(mark), IsOk());
  ASSERT_THAT(other.wait(mark), IsOk());
  ASSERT_THAT(other.launch("behind", [&released] { ++released; }), IsOk());
  EXPECT_THAT(mark.destroy(), IsOk()) << "at once, with the work outstanding";

  std::vector<event> rest;
  for (int i = 0; i < 3; ++i) rest.push_back(ctx.create_event().value());
  EXPECT_THAT(ctx.create_event(), HasCode(code::no_event_resource));
  for (const auto& each : rest) ASSERT_THAT(ctx.default_stream().value().record(each), IsOk());
  EXPECT_FALSE(other.query().value()) << "strangers' records do not release it";

  go.raise();
  EXPECT_THAT(other.synchronize(), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(released, 1);
  EXPECT_THAT(ctx.create_event(), IsOk());
}

TEST_F(few_events, C7_the_last_handle_ends_an_event_like_destroy) {
  for (int round = 0; round < 3; ++round) {
    std::array<event, 4> all;
    for (auto& each : all) each = ctx.create_event().value();
    const auto refused = ctx.create_event();
    ASSERT_THAT(refused, HasCode(code::no_event_resource));
    ASSERT_TRUE(refused.error().record()->lacking.has_value());
    EXPECT_EQ(refused.error().record()->lacking->limit, 4U);
    EXPECT_EQ(dev.counters().events, 4U);
  }
  EXPECT_EQ(dev.counters().events, 0U);
}

TEST_F(few_events, C7_the_end_of_a_context_gives_back_its_events_whatever_handles_there_are) {
  const auto next = dev.create_context().value();
  std::array<event, 4> stale;
  for (auto& each : stale) each = ctx.create_event().value();
  ASSERT_THAT(next.create_event(), HasCode(code::no_event_resource));
  ASSERT_THAT(ctx.destroy(), IsOk());
  EXPECT_EQ(dev.counters().events, 0U);
  std::array<event, 4> fresh;
  for (auto& each : fresh) each = next.create_event().value();
  stale = {};
  EXPECT_EQ(dev.counters().events, 4U) << "each is given back once";
  EXPECT_THAT(next.create_event(), HasCode(code::no_event_resource));
}

TEST_F(few_events, C7_recording_again_and_again_takes_no_further_place) {
  const auto mark = ctx.create_event().value();
  for (int i = 0; i < 100; ++i) {
    ASSERT_THAT(s.launch("work", [] {}), IsOk());
    ASSERT_THAT(s.record(mark), IsOk());
    ASSERT_THAT(other.wait(mark), IsOk());
  }
  EXPECT_THAT(ctx.synchronize(), IsOk());
  EXPECT_EQ(dev.counters().events, 1U);
}

} // namespace
} // namespace troupe
