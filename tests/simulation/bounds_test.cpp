// Bounds, to the nanosecond, in virtual time: when a task that never completes is given up on (G1),
// how long shutdown takes (L3, L6), and what does not depend on which of two things came first.

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "tests/support/simulated.hpp"
#include "tests/support/status_matchers.hpp"
#include "troupe/testing.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

using testing::simulate;
using testing::simulation_options;
using testing::stage;
using namespace std::chrono_literals;

constexpr auto bound = 300ms;

// "stuck" never completes, "long" takes two seconds, everything else no time.
simulation_options with_bound() {
  simulation_options made;
  made.costs.kernels["stuck"] = cost_model::never;
  made.costs.kernels["long"] = 2'000'000'000;
  for (const auto* name : {"next", "fails", "after"}) made.costs.kernels[name] = 0;
  made.runtime.stop_bound_ms = 300;
  return made;
}

TEST(bounds, G1_a_stuck_task_is_given_up_on_exactly_the_bound_after_its_abort) {
  const auto report = simulate(with_bound(), [](stage& play) {
    auto ctx = make_context(play);
    auto s = ctx.create_stream().value();
    s.launch("stuck", [] {}).or_throw();
    play.pass_time(1s);
    ASSERT_THAT(s.abort(), IsOk());
    s.launch("next", [] {}).or_throw();
    EXPECT_THAT(s.synchronize(), IsOk());
    EXPECT_EQ(play.elapsed(), 1s + bound);
  });
  EXPECT_FALSE(report.hang);
}

TEST(bounds, G1_further_aborts_postpone_nothing) {
  const auto report = simulate(with_bound(), [](stage& play) {
    auto ctx = make_context(play);
    auto s = ctx.create_stream().value();
    s.launch("stuck", [] {}).or_throw();
    for (int i = 0; i < 5; ++i) {
      ASSERT_THAT(s.abort(), IsOk());
      s.launch("next", [] {}).or_throw(); // so that each abort covers more than the last
      play.pass_time(bound / 5);
    }
    EXPECT_THAT(s.synchronize(), IsOk());
    EXPECT_EQ(play.elapsed(), bound);
  });
  EXPECT_FALSE(report.hang);
}

TEST(bounds, G1_each_task_has_its_own_bound_from_the_abort_that_covers_it) {
  const auto report = simulate(with_bound(), [](stage& play) {
    auto ctx = make_context(play);
    auto s = ctx.create_stream().value();
    for (int i = 1; i <= 3; ++i) {
      s.launch("stuck", [] {}).or_throw();
      play.pass_time(10ms);
      ASSERT_THAT(s.abort(), IsOk());
      s.launch("next", [] {}).or_throw();
      EXPECT_THAT(s.synchronize(), IsOk());
      EXPECT_EQ(play.elapsed(), i * (10ms + bound));
    }
  });
  EXPECT_FALSE(report.hang);
}

TEST(bounds, G1_forced_destroy_of_a_stream_that_is_being_destroyed_ends_at_the_bound) {
  const auto report = simulate(with_bound(), [](stage& play) {
    auto ctx = make_context(play);
    auto s = ctx.create_stream().value();
    s.launch("stuck", [] {}).or_throw();
    auto patient = play.start_client("patient", [&] {
      EXPECT_THAT(s.destroy(), HasCode(code::stream_abort)) << "its work was dropped";
      EXPECT_EQ(play.elapsed(), 1s + bound);
    });
    play.pass_time(1s);
    EXPECT_THAT(s.destroy(), HasCode(code::invalid_handle)) << "without force";
    EXPECT_THAT(s.destroy(true), IsOk());
    EXPECT_EQ(play.elapsed(), 1s + bound);
    patient.join();
    EXPECT_THAT(s.destroy(true), HasCode(code::invalid_handle));
    EXPECT_THAT(s.abort(), HasCode(code::invalid_handle));
  });
  EXPECT_FALSE(report.hang);
}

TEST(bounds, L3_shutdown_takes_exactly_the_bound_when_a_task_never_completes) {
  const auto report = simulate(with_bound(), [](stage& play) {
    auto ctx = make_context(play);
    auto s = ctx.create_stream().value();
    s.launch("stuck", [] {}).or_throw();
    play.pass_time(1s);
    EXPECT_THAT(play.runtime().shutdown(), IsOk());
    EXPECT_EQ(play.elapsed(), 1s + bound);
  });
  EXPECT_FALSE(report.hang);
}

TEST(bounds, L6_shutdown_takes_no_time_when_only_timers_are_left) {
  const auto report = simulate(with_bound(), [](stage& play) {
    auto ctx = make_context(play);
    auto s = ctx.create_stream().value();
    s.wait(play.runtime().create_signal(), 1h).or_throw();
    play.pass_time(1s);
    EXPECT_THAT(play.runtime().shutdown(), IsOk());
    EXPECT_EQ(play.elapsed(), 1s);
  });
  EXPECT_FALSE(report.hang);
}

TEST(bounds, L11_shutdown_lets_work_finish_that_ends_within_the_drain_time) {
  auto options = with_bound();
  options.runtime.drain_ms = 5'000;
  bool ran = false;
  const auto report = simulate(options, [&](stage& play) {
    auto ctx = make_context(play);
    auto s = ctx.create_stream().value();
    s.launch("long", [&ran] { ran = true; }).or_throw();
    EXPECT_THAT(play.runtime().shutdown(), IsOk());
    EXPECT_EQ(play.elapsed(), 2s);
  });
  EXPECT_FALSE(report.hang);
  EXPECT_TRUE(ran);
}

TEST(bounds, L11_shutdown_drops_work_that_is_left_after_the_drain_time) {
  auto options = with_bound();
  options.runtime.drain_ms = 1'000;
  bool ran = false;
  const auto report = simulate(options, [&](stage& play) {
    auto ctx = make_context(play);
    auto s = ctx.create_stream().value();
    s.launch("long", [&ran] { ran = true; }).or_throw();
    EXPECT_THAT(play.runtime().shutdown(), IsOk());
    EXPECT_EQ(play.elapsed(), 1s + bound);
  });
  EXPECT_FALSE(report.hang);
  EXPECT_FALSE(ran);
}

TEST(bounds, L11_a_second_shutdown_waits_for_the_first) {
  const auto report = simulate(with_bound(), [](stage& play) {
    auto ctx = make_context(play);
    auto s = ctx.create_stream().value();
    s.launch("stuck", [] {}).or_throw();
    auto first = play.start_client("first", [&] {
      EXPECT_THAT(play.runtime().shutdown(), IsOk());
      EXPECT_EQ(play.elapsed(), bound);
    });
    play.pass_time(100ms);
    EXPECT_THAT(play.runtime().shutdown(), IsOk());
    EXPECT_EQ(play.elapsed(), bound);
    first.join();
  });
  EXPECT_FALSE(report.hang);
}

// A stream of one context waits for an event of another, which stops at a failure.
TEST(bounds, decision_11_a_wait_for_a_stopped_context_fails_whichever_came_first) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    auto options = with_bound();
    options.seed = seed;
    options.choice = testing::order::explore;
    options.expected_steps = 100;
    const auto report = simulate(options, [](stage& play) {
      auto stops = make_context(play);
      auto a = stops.create_stream().value();
      a.set_failure_mode(failure_mode::stop).or_throw();
      auto other = make_context(play);
      auto b = other.create_stream().value();
      auto mark = stops.create_event().value();
      auto go = play.runtime().create_signal();
      a.wait(go).or_throw();
      a.launch("fails", [] { throw std::runtime_error("spilled"); }).or_throw();
      a.record(mark).or_throw();
      auto raising = play.start_client("raising", [&go] { go.raise(); });
      bool went_on = false;
      EXPECT_THAT(b.wait(mark), IsOk());
      EXPECT_THAT(b.launch("after", [&went_on] { went_on = true; }), IsOk());
      const auto outcome = b.synchronize();
      EXPECT_THAT(outcome, HasCode(code::stream_abort));
      EXPECT_THAT(outcome, SaysThat("spilled"));
      EXPECT_TRUE(went_on);
      EXPECT_THAT(b.synchronize(), IsOk()) << "reported once";
      raising.join();
    });
    ASSERT_FALSE(report.hang) << "seed " << seed << ": " << *report.hang;
  }
}

TEST(bounds, decision_9_a_wait_for_a_stream_destroyed_by_force_stalls_until_it_is_aborted) {
  const auto report = simulate(with_bound(), [](stage& play) {
    auto ctx = make_context(play);
    auto a = ctx.create_stream().value();
    auto b = ctx.create_stream().value();
    auto mark = ctx.create_event().value();
    a.launch("stuck", [] {}).or_throw();
    a.record(mark).or_throw();
    b.wait(mark).or_throw();
    ASSERT_THAT(a.destroy(true), IsOk());
    const auto outcome = b.synchronize(1s);
    EXPECT_THAT(outcome, HasCode(code::stream_sync_timeout));
    EXPECT_THAT(outcome, SaysThat("waits for stream " + std::to_string(a.id())));
    EXPECT_THAT(b.abort(), IsOk());
    EXPECT_THAT(b.synchronize(), IsOk());
  });
  EXPECT_FALSE(report.hang);
}

} // namespace
} // namespace troupe
