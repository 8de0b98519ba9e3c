#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/plan_in_force.hpp"
#include "tests/support/stage.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

// Runs three tasks and says which of them ran; `outcome` is what the wait said.
std::vector<int> run_three(status& outcome) {
  std::vector<int> ran;
  runtime rt(test_options(1));
  auto ctx = rt.device(0).value().create_context().value();
  auto s = ctx.create_stream().value();
  for (int i = 1; i <= 3; ++i) s.launch("task", [&ran, i] { ran.push_back(i); }).or_throw();
  outcome = s.synchronize(30s);
  return ran;
}

TEST(live_faults, K3_a_plan_of_the_environment_befalls_an_unchanged_program_and_reports) {
  LIVE_ONLY("a live run under a plan");
  const plan_in_force plan(R"({"name": "live", "entries": [
      {"name": "second fails", "pick": {"point": "execute", "operation": "task", "ordinal": 2},
       "action": {"kind": "fail_at_execution"}}]})");
  status outcome;
  EXPECT_EQ(run_three(outcome), (std::vector<int>{1, 3}));
  EXPECT_THAT(outcome, HasCode(code::kernel_exception));
  EXPECT_EQ(outcome.record()->plan_entry, "second fails");
  EXPECT_NE(plan.report().find("second fails"), std::string::npos) << plan.report();
}

TEST(live_faults, L12_what_is_lost_between_the_parts_is_found_again) {
  LIVE_ONLY("a live run under a plan");
  for (const auto* point : {"handoff", "complete", "notice"}) {
    const plan_in_force plan(R"({"entries": [{"pick": {"point": ")" + std::string(point) +
                             R"("}, "action": {"kind": "drop"}}]})");
    status outcome;
    EXPECT_EQ(run_three(outcome), (std::vector<int>{1, 2, 3})) << point;
    EXPECT_THAT(outcome, IsOk()) << point;
  }
}

TEST(live_faults, L12_a_completion_that_comes_twice_is_ignored_the_second_time) {
  LIVE_ONLY("a live run under a plan");
  const plan_in_force plan(R"({"entries": [{"pick": {"point": "complete", "times": 0},
                                            "action": {"kind": "duplicate"}}]})");
  runtime rt(test_options(1));
  auto ctx = rt.device(0).value().create_context().value();
  constexpr int rounds = 100;
  constexpr int tasks = 20;
  for (int round = 0; round < rounds; ++round) {
    auto s = ctx.create_stream().value();
    int ran = 0;
    for (int i = 0; i < tasks; ++i) ASSERT_THAT(s.launch("task", [&ran] { ++ran; }), IsOk());
    ASSERT_THAT(s.synchronize(30s), IsOk()) << round;
    ASSERT_EQ(ran, tasks);
  }
}

TEST(live_faults, a_task_that_never_completes_ends_by_abort) {
  LIVE_ONLY("a live run under a plan");
  const plan_in_force plan(R"({"entries": [{"pick": {"point": "execute"},
                                            "action": {"kind": "never_complete"}}]})");
  runtime rt(test_options(1));
  auto ctx = rt.device(0).value().create_context().value();
  auto s = ctx.create_stream().value();
  s.launch("stuck", [] {}).or_throw();
  EXPECT_THAT(s.synchronize(20ms), HasCode(code::stream_sync_timeout));
  EXPECT_THAT(s.abort(), IsOk());
  s.launch("next", [] {}).or_throw();
  EXPECT_THAT(s.synchronize(30s), IsOk());
}

TEST(live_faults, a_lost_answer_ends_the_call_within_its_bound_and_what_it_made_is_given_back) {
  const plan_in_force plan(R"({"entries": [{"name": "lost answer",
      "pick": {"point": "reply", "operation": "context::allocate"},
      "action": {"kind": "drop"}}]})");
  auto options = test_options(1);
  options.control_timeout_ms = 100;
  runtime rt(options);
  auto dev = rt.device(0).value();
  auto ctx = dev.create_context().value();
  const auto got = ctx.allocate<int>(1'000);
  EXPECT_THAT(got, HasCode(code::wait_timeout));
  EXPECT_THAT(got.error(), SaysThat("context::allocate"));
  EXPECT_THAT(got.error(), SaysThat("100 ms"));
  EXPECT_EQ(got.error().record()->plan_entry, "lost answer");
  EXPECT_EQ(dev.memory().value().used, 0U);
  EXPECT_THAT(ctx.allocate<int>(1'000), IsOk());
}

TEST(live_faults, a_paused_actor_goes_on_after_its_time_and_when_the_runtime_ends) {
  for (const auto* ms : {"30", "1000000000"}) {
    const plan_in_force plan(R"({"entries": [{"pick": {"point": "message",
        "message": "create_stream"}, "action": {"kind": "pause_actor", "ms": )" +
                             std::string(ms) + "}}]}");
    auto options = test_options(1);
    const bool back = std::string(ms) == "30";
    options.control_timeout_ms = back ? 30'000 : 50;
    runtime rt(options);
    auto ctx = rt.device(0).value().create_context().value();
    const auto before = std::chrono::steady_clock::now();
    const auto made = ctx.create_stream();
    if (back) {
      EXPECT_THAT(made, IsOk());
      EXPECT_GE(std::chrono::steady_clock::now() - before, 30ms);
    } else {
      EXPECT_THAT(made, HasCode(code::wait_timeout));
    }
    EXPECT_THAT(rt.shutdown(), IsOk());
    EXPECT_NE(plan.report().find("pause_actor"), std::string::npos);
  }
}

TEST(live_faults, an_engine_that_starts_again_has_every_task_done_once) {
  const plan_in_force plan(R"({"entries": [{"pick": {"point": "execute", "times": 0},
                                            "action": {"kind": "restart_actor"}}]})");
  status outcome;
  EXPECT_EQ(run_three(outcome), (std::vector<int>{1, 2, 3}));
  EXPECT_THAT(outcome, IsOk());
}

TEST(live_faults, a_hand_over_that_is_to_be_overtaken_comes_all_the_same) {
  const plan_in_force plan(R"({"entries": [{"pick": {"point": "handoff", "times": 0},
                                            "action": {"kind": "reorder"}}]})");
  status outcome;
  EXPECT_EQ(run_three(outcome), (std::vector<int>{1, 2, 3}));
  EXPECT_THAT(outcome, IsOk());
}

// The task blocks until it is told to stop, as one does that waits for a device.
TEST(live_faults, G4_a_lost_device_lets_go_who_waits_and_is_usable_after_a_reset) {
  LIVE_ONLY("a live run under a plan");
  const plan_in_force plan(R"({"entries": [{"name": "gone",
      "pick": {"point": "submit", "device": 1, "operation": "last"},
      "action": {"kind": "lose_device", "ms": 50}}]})");
  runtime rt(test_options(2));
  auto dev = rt.device(1).value();
  auto ctx = dev.create_context().value();
  auto near = rt.device(0).value().create_context().value();
  auto data = ctx.allocate<int>(1'000).value();
  auto busy = ctx.create_stream().value();
  auto last = ctx.create_stream().value();
  gate started;
  busy.launch("blocks", [&started](block b) {
        started.open();
        while (!b.stop_requested()) std::this_thread::yield();
      }).or_throw();
  started.pass();
  EXPECT_THAT(last.launch("last", [] {}), HasCode(code::lost_heartbeat));
  for (auto* each : {&busy, &last}) {
    const auto outcome = each->synchronize();
    EXPECT_THAT(outcome, HasCode(code::lost_heartbeat));
    EXPECT_EQ(outcome.record()->plan_entry, "gone");
  }
  EXPECT_THAT(dev.create_context(), HasCode(code::lost_heartbeat));
  EXPECT_THAT(near.create_stream(), IsOk());
  while (!dev.reset().ok()) std::this_thread::yield(); // it is away for a while
  EXPECT_EQ(dev.memory().value().used, 0U);
  EXPECT_EQ(dev.counters().streams, 0U);
  auto fresh = dev.create_context().value();
  auto s = fresh.create_stream().value();
  s.launch("next", [] {}).or_throw();
  EXPECT_THAT(s.synchronize(30s), IsOk());
}

TEST(live_faults, a_bad_plan_is_refused_with_variable_entry_and_field) {
  LIVE_ONLY("a live run under a plan");
  const plan_in_force plan(R"({"entries": [{"pick": {"point": "lunch"},
                                            "action": {"kind": "drop"}}]})");
  const auto made = runtime::create(test_options(1));
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error(), SaysThat("TROUPE_FAULT_PLAN"));
  EXPECT_THAT(made.error(), SaysThat("entry 1"));
  EXPECT_THAT(made.error(), SaysThat("lunch"));
}

} // namespace
} // namespace troupe
