// How far a failed task reaches: Decisions 10, 11 and 12.

#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>

#include "tests/behaviour/side_thread.hpp"
#include "tests/support/stage.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

class failure_modes : public stage_test {
protected:
  static void fail() { throw std::runtime_error("broken on purpose"); }

  stream other = ctx.create_stream().value();
};

TEST_F(failure_modes, decision_11_in_continue_mode_a_failure_reaches_its_own_stream_only) {
  std::atomic<bool> ran = false;
  ASSERT_THAT(s.launch("bad", &fail), IsOk());
  ASSERT_THAT(s.launch("later", [&ran] { ran = true; }), IsOk());
  ASSERT_THAT(other.launch("good", [] {}), IsOk());
  EXPECT_THAT(other.synchronize(), IsOk());
  EXPECT_THAT(s.synchronize(), HasCode(code::kernel_exception));
  EXPECT_TRUE(ran);
  EXPECT_THAT(s.synchronize(), IsOk()) << "reported and cleared";
  EXPECT_THAT(ctx.health(), IsOk());
}

TEST_F(failure_modes, decision_10_stop_mode_set_on_a_stream_covers_its_context) {
  ASSERT_THAT(s.set_failure_mode(failure_mode::stop), IsOk());
  ASSERT_THAT(other.launch("bad", &fail), IsOk()) << "another stream than the one it was set on";
  EXPECT_THAT(other.synchronize(), HasCode(code::kernel_exception));

  auto unnamed = ctx.default_stream().value();
  for (auto* each : {&s, &other, &unnamed}) {
    EXPECT_THAT(each->launch("refused", [] {}), HasCode(code::kernel_exception));
    for (int i = 0; i < 2; ++i) {
      EXPECT_THAT(each->synchronize(), HasCode(code::kernel_exception)) << "sticky";
    }
  }
  EXPECT_THAT(ctx.synchronize(), HasCode(code::kernel_exception));
  EXPECT_THAT(ctx.health(), HasCode(code::kernel_exception));
}

TEST_F(failure_modes, decision_10_the_default_stream_stops_its_context_as_well) {
  auto unnamed = ctx.default_stream().value();
  ASSERT_THAT(unnamed.set_failure_mode(failure_mode::stop), IsOk());
  ASSERT_THAT(unnamed.launch("bad", &fail), IsOk());
  EXPECT_THAT(unnamed.synchronize(), HasCode(code::kernel_exception));
  EXPECT_THAT(s.launch("refused", [] {}), HasCode(code::kernel_exception));
}

TEST_F(failure_modes, decision_10_in_stop_mode_nothing_behind_the_failure_runs) {
  const auto go = rt.create_signal();
  std::atomic<int> ran = 0;
  ASSERT_THAT(s.set_failure_mode(failure_mode::stop), IsOk());
  ASSERT_THAT(s.wait(go), IsOk());
  ASSERT_THAT(s.launch("bad", &fail), IsOk());
  ASSERT_THAT(s.launch("behind", [&ran] { ++ran; }), IsOk());
  const auto mark = ctx.create_event().value();
  ASSERT_THAT(s.record(mark), IsOk());
  ASSERT_THAT(other.wait(mark), IsOk());
  ASSERT_THAT(other.launch("dependent", [&ran] { ++ran; }), IsOk());
  go.raise();
  EXPECT_THAT(s.synchronize(), HasCode(code::kernel_exception));
  EXPECT_THAT(other.synchronize(), HasCode(code::kernel_exception));
  EXPECT_EQ(ran, 0);
}

TEST_F(failure_modes, decision_10_a_stopped_context_still_copies_and_allocates) {
  auto memory = ctx.allocate<int>(1, initial::cleared).value();
  ASSERT_THAT(s.set_failure_mode(failure_mode::stop), IsOk());
  ASSERT_THAT(s.launch("bad", &fail), IsOk());
  ASSERT_THAT(s.synchronize(), HasCode(code::kernel_exception));
  std::array<int, 1> seen{1};
  EXPECT_THAT(ctx.copy(seen, memory), IsOk());
  EXPECT_EQ(seen[0], 0);
  EXPECT_THAT(ctx.allocate<int>(1), IsOk());
}

TEST_F(failure_modes, decision_10_stop_mode_ends_work_that_waits_and_lets_its_threads_go) {
  ASSERT_THAT(s.set_failure_mode(failure_mode::stop), IsOk());
  ASSERT_THAT(other.wait(rt.create_signal()), IsOk()); // never raised
  side_thread waiter([this] { return other.synchronize(); });
  ASSERT_TRUE(waiter.waits_for(other));
  ASSERT_THAT(s.launch("bad", &fail), IsOk());
  EXPECT_THAT(waiter.join(), HasCode(code::kernel_exception));
  EXPECT_THAT(ctx.synchronize(), HasCode(code::kernel_exception));
}

TEST_F(failure_modes, decision_10_stop_mode_ends_work_that_runs_and_lets_its_threads_go) {
  LIVE_ONLY("its kernel waits for the test");
  gate begun;
  begun.open();
  std::atomic<bool> told = false;
  ASSERT_THAT(s.set_failure_mode(failure_mode::stop), IsOk());
  ASSERT_THAT(s.launch("polite", [&](block b) {
    begun.pass();
    while (!b.stop_requested()) std::this_thread::yield();
    told = true;
  }), IsOk());
  begun.await_arrivals();
  side_thread waiter([this] { return s.synchronize(); });
  ASSERT_TRUE(waiter.waits_for(s));
  ASSERT_THAT(other.callback("bad", &fail), IsOk());
  EXPECT_THAT(waiter.join(), HasCode(code::internal_error)) << "the first cause";
  EXPECT_THAT(ctx.synchronize(), HasCode(code::internal_error));
  await([&] { return told.load(); });
  EXPECT_THAT(s.destroy(), IsOk());
}

// Exact and in any order: bounds_test of the simulation.
TEST_F(failure_modes, decision_11_a_wait_for_a_stopped_context_fails_before_and_after_alike) {
  auto tenant = dev.create_context().value();
  auto a = tenant.create_stream().value();
  auto mark = tenant.create_event().value();
  ASSERT_THAT(a.set_failure_mode(failure_mode::stop), IsOk());
  const auto go = rt.create_signal();
  ASSERT_THAT(a.wait(go), IsOk());
  ASSERT_THAT(a.launch("fails", [] { throw std::runtime_error("spilled"); }), IsOk());
  ASSERT_THAT(a.record(mark), IsOk());
  for (const bool before : {true, false}) {
    std::atomic<bool> went_on = false;
    ASSERT_THAT(s.wait(mark), IsOk());
    ASSERT_THAT(s.launch("after", [&] { went_on = true; }), IsOk());
    if (before) go.raise();
    const auto outcome = s.synchronize();
    EXPECT_THAT(outcome, HasCode(code::stream_abort));
    EXPECT_THAT(outcome, SaysThat("spilled"));
    ASSERT_NE(outcome.record(), nullptr);
    EXPECT_NE(outcome.record()->cause, nullptr) << "the first cause survives";
    EXPECT_TRUE(went_on);
    EXPECT_THAT(s.synchronize(), IsOk()) << "reported once";
  }
  EXPECT_THAT(ctx.health(), IsOk());
}

TEST_F(failure_modes, stop_mode_cannot_be_taken_back) {
  EXPECT_THAT(s.set_failure_mode(failure_mode::go_on), IsOk()) << "it is the default";
  ASSERT_THAT(s.set_failure_mode(failure_mode::stop), IsOk());
  EXPECT_THAT(s.set_failure_mode(failure_mode::stop), IsOk());
  EXPECT_THAT(s.set_failure_mode(failure_mode::go_on), HasCode(code::not_supported));
  EXPECT_THAT(other.set_failure_mode(failure_mode::go_on), HasCode(code::not_supported));
}

TEST_F(failure_modes, decision_11_a_stopped_context_harms_no_other_context_and_no_other_device) {
  const auto neighbour = dev.create_context().value();
  const auto elsewhere = rt.device(1).value().create_context().value();
  ASSERT_THAT(s.set_failure_mode(failure_mode::stop), IsOk());
  ASSERT_THAT(s.launch("bad", &fail), IsOk());
  ASSERT_THAT(s.synchronize(), HasCode(code::kernel_exception));
  for (const auto& each : {neighbour, elsewhere}) {
    std::atomic<bool> ran = false;
    auto stream = each.default_stream().value();
    EXPECT_THAT(stream.launch("good", [&ran] { ran = true; }), IsOk());
    EXPECT_THAT(stream.synchronize(), IsOk());
    EXPECT_TRUE(ran);
    EXPECT_THAT(each.health(), IsOk());
  }
}

TEST_F(failure_modes, decision_12_not_ready_and_deadlines_of_queries_are_states_not_failures) {
  const auto go = rt.create_signal();
  const auto mark = ctx.create_event().value();
  ASSERT_THAT(s.set_failure_mode(failure_mode::stop), IsOk());
  ASSERT_THAT(s.wait(go), IsOk());
  ASSERT_THAT(s.record(mark), IsOk());
  EXPECT_FALSE(s.query().value());
  EXPECT_FALSE(mark.query().value());
  EXPECT_THAT(s.synchronize(1ms), HasCode(code::stream_sync_timeout));
  EXPECT_THAT(ctx.synchronize(1ms), HasCode(code::stream_sync_timeout));
  EXPECT_THAT(mark.synchronize(1ms), HasCode(code::event_sync_timeout));
  EXPECT_THAT(mark.elapsed_since(mark), HasCode(code::event_timestamp_invalid));
  go.raise();
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_TRUE(s.failures().empty());
  EXPECT_THAT(ctx.health(), IsOk());
}

} // namespace
} // namespace troupe
