// Limits on waiting: B4 and B5. Of B5 these are left out, as only the C facade has them: the limit
// in seconds, the process-wide wait limit, and the limit of a device task abort. Exact instants
// need a virtual clock; here an expiry comes no earlier than its limit.

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/support/stage.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;

class waits : public stage_test {
protected:
  void TearDown() override { current::unbind(); }

  static constexpr std::array<timeout, 4> bad_limits{0ms, -2ms, -7ms, timeout::min()};
};

// -- B4: the host waits ---------------------------------------------------------

TEST_F(waits, B4_an_expired_wait_says_so_and_the_work_goes_on) {
  LIVE_ONLY("its kernels wait for the test");
  gate hold;
  auto memory = ctx.allocate<int>(1, initial::cleared).value();
  ASSERT_THAT(s.launch("slow", [&hold](std::span<int> out) {
                hold.pass();
                out[0] = 42;
              }, memory), IsOk());
  hold.await_arrivals();
  EXPECT_THAT(s.synchronize(20ms), HasCode(code::stream_sync_timeout));
  EXPECT_THAT(ctx.synchronize(20ms), HasCode(code::stream_sync_timeout));
  EXPECT_FALSE(s.query().value());
  hold.open();
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_TRUE(s.failures().empty()) << "a deadline is a state, not a failure";
  std::array<int, 1> seen{};
  ASSERT_THAT(ctx.copy(seen, memory), IsOk());
  EXPECT_EQ(seen[0], 42);
}

TEST_F(waits, B4_memory_of_work_that_outlived_a_wait_is_not_reused) {
  const auto go = rt.create_signal();
  auto memory = ctx.allocate<int>(1, initial::cleared).value();
  ASSERT_THAT(s.wait(go), IsOk());
  ASSERT_THAT(s.fill_bytes(memory, 1), IsOk());
  ASSERT_THAT(s.synchronize(1ms), HasCode(code::stream_sync_timeout));
  const auto* address = memory.data();
  ASSERT_THAT(memory.free(), IsOk());
  EXPECT_GT(dev.memory().value().quarantined, 0U);
  EXPECT_NE(ctx.allocate<int>(1).value().data(), address);
  go.raise();
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(dev.memory().value().quarantined, 0U);
}

TEST_F(waits, B4_the_report_names_device_stream_and_the_task_that_runs) {
  LIVE_ONLY("its kernels wait for the test");
  auto there = rt.device(1).value().create_context().value();
  auto stream = there.create_stream().value();
  gate hold;
  ASSERT_THAT(stream.launch("before", [] {}), IsOk());
  ASSERT_THAT(stream.launch("slow", [&hold] { hold.pass(); }), IsOk());
  ASSERT_THAT(stream.launch("behind", [] {}), IsOk());
  hold.await_arrivals();
  const auto outcome = stream.synchronize(1ms);
  ASSERT_THAT(outcome, AllOf(HasCode(code::stream_sync_timeout), SaysThat("'slow' runs")));
  const auto& record = *outcome.record();
  EXPECT_EQ(record.device, 1U);
  EXPECT_EQ(record.context, there.id());
  EXPECT_EQ(record.stream, stream.id());
  EXPECT_EQ(record.task_name, "slow");
  EXPECT_EQ(record.task_number, 2U);
  hold.open();
  EXPECT_THAT(stream.synchronize(), IsOk());
}

TEST_F(waits, B4_the_report_names_what_a_stream_waits_for) {
  const auto go = rt.create_signal();
  const auto mark = ctx.create_event().value();
  auto other = ctx.create_stream().value();
  ASSERT_THAT(other.wait(go), IsOk());
  ASSERT_THAT(other.record(mark), IsOk());
  ASSERT_THAT(s.wait(mark), IsOk());
  EXPECT_THAT(s.synchronize(1ms), SaysThat("waits for stream " + std::to_string(other.id())));
  go.raise();
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(waits, B4_a_host_wait_for_an_event_expires_with_its_own_code) {
  const auto go = rt.create_signal();
  const auto mark = ctx.create_event().value();
  ASSERT_THAT(s.wait(go), IsOk());
  ASSERT_THAT(s.record(mark), IsOk());
  EXPECT_THAT(mark.synchronize(5ms), HasCode(code::event_sync_timeout));
  EXPECT_FALSE(mark.query().value());
  go.raise();
  EXPECT_THAT(mark.synchronize(), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(waits, B4_an_expiry_does_not_come_before_its_limit) {
  const auto go = rt.create_signal();
  ASSERT_THAT(s.wait(go), IsOk());
  const auto begin = time_now();
  EXPECT_THAT(s.synchronize(30ms), HasCode(code::stream_sync_timeout));
  EXPECT_GE(time_now() - begin, 30ms);
  go.raise();
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(waits, B4_a_limit_that_is_not_reached_changes_nothing) {
  ASSERT_THAT(s.launch("quick", [] {}), IsOk());
  EXPECT_THAT(s.synchronize(1h), IsOk());
  EXPECT_THAT(s.synchronize(timeout::max()), IsOk());
}

TEST_F(waits, B4_zero_and_negative_limits_are_refused_before_any_waiting) {
  const auto go = rt.create_signal();
  const auto mark = ctx.create_event().value();
  ASSERT_THAT(s.wait(go), IsOk());
  ASSERT_THAT(s.record(mark), IsOk());
  ASSERT_THAT(ctx.bind(), IsOk());
  for (const auto limit : bad_limits) { // none of these calls could end by waiting
    EXPECT_THAT(s.synchronize(limit), HasCode(code::invalid_parameter));
    EXPECT_THAT(ctx.synchronize(limit), HasCode(code::invalid_parameter));
    EXPECT_THAT(current::synchronize(limit), HasCode(code::invalid_parameter));
    EXPECT_THAT(mark.synchronize(limit), HasCode(code::invalid_parameter));
  }
  go.raise();
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_THAT(s.synchronize(0ms), HasCode(code::invalid_parameter)) << "nothing to wait for";
}

// -- B5: a stream waits -----------------------------------------------------------

TEST_F(waits, B5_a_device_side_wait_that_expires_shows_at_the_next_synchronise) {
  const auto go = rt.create_signal();
  const auto mark = ctx.create_event().value();
  auto other = ctx.create_stream().value();
  std::atomic<bool> ran = false;
  ASSERT_THAT(other.wait(go), IsOk());
  ASSERT_THAT(other.record(mark), IsOk());
  const auto begin = time_now();
  ASSERT_THAT(s.wait(mark, 10ms), IsOk());
  ASSERT_THAT(s.launch("behind", [&ran] { ran = true; }), IsOk());
  EXPECT_THAT(s.synchronize(),
              AllOf(HasCode(code::task_timeout),
                    SaysThat("stream " + std::to_string(other.id()) + " did not reach")));
  EXPECT_GE(time_now() - begin, 10ms);
  EXPECT_TRUE(ran) << "later tasks go on";
  EXPECT_THAT(s.synchronize(), IsOk()) << "reported once";
  EXPECT_FALSE(mark.query().value()) << "what was waited for is not touched";
  go.raise();
  EXPECT_THAT(other.synchronize(), IsOk());
}

TEST_F(waits, B5_a_wait_for_a_signal_expires_likewise) {
  ASSERT_THAT(s.wait(rt.create_signal(), 1ms), IsOk());
  EXPECT_THAT(s.synchronize(), HasCode(code::task_timeout));
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(waits, B5_zero_and_negative_limits_of_a_device_side_wait_are_refused) {
  const auto go = rt.create_signal();
  const auto mark = ctx.create_event().value();
  auto other = ctx.create_stream().value();
  ASSERT_THAT(other.wait(go), IsOk());
  ASSERT_THAT(other.record(mark), IsOk());
  for (const auto limit : bad_limits) {
    EXPECT_THAT(s.wait(mark, limit), HasCode(code::invalid_parameter));
    EXPECT_THAT(s.wait(go, limit), HasCode(code::invalid_parameter));
  }
  EXPECT_EQ(s.counters().submitted, 0U);
  EXPECT_TRUE(s.query().value());
  go.raise();
  EXPECT_THAT(other.synchronize(), IsOk());
}

TEST_F(waits, B5_each_wait_keeps_the_limit_it_was_submitted_with) {
  const auto go = rt.create_signal();
  auto patient = ctx.create_stream().value();
  auto tireless = ctx.create_stream().value();
  ASSERT_THAT(patient.wait(go, 1h), IsOk());
  ASSERT_THAT(tireless.wait(go), IsOk());
  ASSERT_THAT(s.wait(go, 5ms), IsOk());
  EXPECT_THAT(s.synchronize(), HasCode(code::task_timeout));
  EXPECT_FALSE(patient.query().value());
  EXPECT_FALSE(tireless.query().value());
  go.raise();
  EXPECT_THAT(patient.synchronize(), IsOk());
  EXPECT_THAT(tireless.synchronize(), IsOk());
}

TEST_F(waits, B5_the_limit_counts_from_when_the_stream_begins_to_wait) {
  const auto begin = rt.create_signal();
  const auto never = rt.create_signal();
  auto watch = ctx.create_stream().value();
  ASSERT_THAT(s.wait(begin), IsOk());
  ASSERT_THAT(s.wait(never, 10ms), IsOk());
  ASSERT_THAT(watch.wait(never, 10ms), IsOk());
  ASSERT_THAT(watch.synchronize(), HasCode(code::task_timeout)) << "so 10 ms have passed";
  EXPECT_FALSE(s.query().value());
  const auto from = time_now();
  begin.raise();
  EXPECT_THAT(s.synchronize(), HasCode(code::task_timeout));
  EXPECT_GE(time_now() - from, 10ms);
}

TEST_F(waits, B5_many_short_waits_expire_one_after_another) {
  const auto never = rt.create_signal();
  constexpr std::size_t rounds = 20;
  for (std::size_t i = 0; i < rounds; ++i) ASSERT_THAT(s.wait(never, 1ms), IsOk());
  EXPECT_THAT(s.synchronize(), HasCode(code::task_timeout));
  EXPECT_EQ(s.counters().failed, rounds);
}

} // namespace
} // namespace troupe
