#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "tests/support/status_matchers.hpp"
#include "troupe/testing.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

using testing::simulate;
using testing::simulation_options;
using testing::stage;
using namespace std::chrono_literals;

fault_entry entry(fault_point point, fault_action action, std::string operation = "") {
  fault_entry made;
  made.name = "the fault";
  made.pick.point = point;
  made.pick.operation = std::move(operation);
  made.action = action;
  return made;
}

simulation_options with(std::vector<fault_entry> entries) {
  simulation_options made;
  made.faults.emplace();
  made.faults->entries = std::move(entries);
  made.costs.kernels["work"] = 1'000'000;
  return made;
}

// Three tasks on one stream; which of them ran, and what the wait said.
struct three_tasks {
  std::vector<int> ran;
  status outcome;
  std::chrono::nanoseconds took{};

  void operator()(stage& play) {
    auto ctx = play.runtime().device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    for (int i = 1; i <= 3; ++i) s.launch("work", [this, i] { ran.push_back(i); }).or_throw();
    outcome = s.synchronize();
    took = play.elapsed();
    EXPECT_THAT(s.synchronize(), IsOk());
  }
};

TEST(faults, K3_a_task_made_to_fail_names_the_plan_entry) {
  three_tasks program;
  auto failing = entry(fault_point::execute, fault_action::fail_at_execution(), "work");
  failing.pick.ordinal = 2;
  const auto report = simulate(with({failing}), std::ref(program));
  EXPECT_EQ(program.ran, (std::vector<int>{1, 3}));
  EXPECT_THAT(program.outcome, HasCode(code::kernel_exception));
  ASSERT_TRUE(program.outcome.record());
  EXPECT_EQ(program.outcome.record()->plan_entry, "the fault");
  EXPECT_EQ(program.outcome.record()->task_number, 2U);
  EXPECT_EQ(report.faults.fired, 1U);
}

TEST(faults, a_lost_command_is_a_gap_that_fails_and_the_rest_runs) {
  three_tasks program;
  auto lost = entry(fault_point::submit, fault_action::drop());
  lost.pick.ordinal = 2;
  (void)simulate(with({lost}), std::ref(program));
  EXPECT_EQ(program.ran, (std::vector<int>{1, 3}));
  EXPECT_THAT(program.outcome, HasCode(code::internal_error));
  EXPECT_THAT(program.outcome, SaysThat("lost on its way"));
  EXPECT_EQ(program.outcome.record()->plan_entry, "the fault");
}

TEST(faults, a_refused_command_has_no_effect_and_takes_no_number) {
  const auto report = simulate(
      with({entry(fault_point::submit, fault_action::fail_at_submit(code::queue_full))}),
      [](stage& play) {
        auto ctx = play.runtime().device(0).value().create_context().value();
        auto s = ctx.create_stream().value();
        EXPECT_THAT(s.launch("work", [] {}), HasCode(code::queue_full));
        EXPECT_EQ(s.counters().submitted, 0U);
        EXPECT_THAT(s.launch("work", [] {}), IsOk());
        EXPECT_THAT(s.synchronize(), IsOk());
        EXPECT_EQ(s.counters().submitted, 1U);
      });
  EXPECT_FALSE(report.hang);
}

class lost_or_late : public ::testing::TestWithParam<fault_point> {};

TEST_P(lost_or_late, a_lost_one_is_found_again_within_one_look) {
  three_tasks program;
  const auto report = simulate(with({entry(GetParam(), fault_action::drop())}), std::ref(program));
  EXPECT_FALSE(report.hang) << *report.hang;
  EXPECT_EQ(report.faults.fired, 1U);
  EXPECT_EQ(program.ran, (std::vector<int>{1, 2, 3}));
  EXPECT_THAT(program.outcome, IsOk());
  EXPECT_GT(program.took, 3ms);
  EXPECT_LE(program.took, 503ms);
}

TEST_P(lost_or_late, a_late_one_only_takes_its_time) {
  three_tasks program;
  const auto report =
      simulate(with({entry(GetParam(), fault_action::delay(20))}), std::ref(program));
  EXPECT_FALSE(report.hang) << *report.hang;
  EXPECT_EQ(report.faults.fired, 1U);
  EXPECT_EQ(program.ran, (std::vector<int>{1, 2, 3}));
  EXPECT_THAT(program.outcome, IsOk());
  EXPECT_EQ(program.took, 23ms);
}

TEST_P(lost_or_late, a_second_one_is_ignored) {
  three_tasks program;
  const auto report =
      simulate(with({entry(GetParam(), fault_action::duplicate())}), std::ref(program));
  EXPECT_FALSE(report.hang) << *report.hang;
  EXPECT_EQ(report.faults.fired, 1U);
  EXPECT_EQ(program.ran, (std::vector<int>{1, 2, 3}));
  EXPECT_THAT(program.outcome, IsOk());
  EXPECT_EQ(program.took, 3ms);
}

INSTANTIATE_TEST_SUITE_P(between_the_parts, lost_or_late,
                         ::testing::Values(fault_point::handoff, fault_point::complete,
                                           fault_point::notice),
                         [](const auto& each) { return std::string(to_string(each.param)); });

TEST(faults, a_late_notice_is_late_once_however_long_the_plan_lasts) {
  for (const auto& action : {fault_action::delay(20), fault_action::drop()}) {
    three_tasks program;
    auto always = entry(fault_point::notice, action);
    always.pick.times = 0;
    const auto report = simulate(with({always}), std::ref(program));
    EXPECT_FALSE(report.hang) << *report.hang;
    EXPECT_EQ(report.faults.fired, 1U);
    EXPECT_THAT(program.outcome, IsOk());
    EXPECT_EQ(program.took, action.kind == fault_kind::delay ? 23ms : 500ms);
  }
}

TEST(faults, a_task_that_never_completes_ends_by_deadline_and_abort) {
  const auto report =
      simulate(with({entry(fault_point::execute, fault_action::never_complete())}), [](stage& play) {
        auto ctx = play.runtime().device(0).value().create_context().value();
        auto s = ctx.create_stream().value();
        s.launch("work", [] {}).or_throw();
        EXPECT_THAT(s.synchronize(50ms), HasCode(code::stream_sync_timeout));
        EXPECT_THAT(s.abort(), IsOk());
        EXPECT_THAT(s.launch("work", [] {}), IsOk());
        EXPECT_THAT(s.synchronize(), IsOk());
      });
  EXPECT_FALSE(report.hang) << *report.hang;
}

TEST(faults, a_slow_task_takes_its_factor) {
  three_tasks program;
  auto slow = entry(fault_point::execute, fault_action::slow(10));
  slow.pick.ordinal = 2;
  (void)simulate(with({slow}), std::ref(program));
  EXPECT_EQ(program.took, 12ms);
  EXPECT_THAT(program.outcome, IsOk());
}

TEST(faults, an_engine_that_dies_fails_its_task_and_another_goes_on) {
  three_tasks program;
  auto killing = entry(fault_point::execute, fault_action::kill_actor());
  killing.pick.ordinal = 2;
  const auto report = simulate(with({killing}), std::ref(program));
  EXPECT_FALSE(report.hang) << *report.hang;
  EXPECT_EQ(program.ran, (std::vector<int>{1, 3}));
  EXPECT_THAT(program.outcome, SaysThat("the engine that ran it is gone"));
  EXPECT_EQ(program.outcome.record()->plan_entry, "the fault");
}

TEST(faults, K8_flipped_bits_are_silent_or_told) {
  for (const bool told : {false, true}) {
    std::vector<unsigned char> out(256, 0);
    const auto report = simulate(
        with({entry(fault_point::execute, fault_action::corrupt(3, told), "fill")}),
        [&](stage& play) {
          auto ctx = play.runtime().device(0).value().create_context().value();
          auto s = ctx.create_stream().value();
          auto data = ctx.allocate<unsigned char>(out.size()).value();
          s.fill_bytes(data, 7).or_throw();
          const auto copied = s.copy(std::span(out), data);
          const auto outcome = s.synchronize();
          if (told) {
            EXPECT_THAT(outcome, HasCode(code::hbm_multi_bit_ecc));
            EXPECT_THAT(copied, HasCode(code::hbm_multi_bit_ecc));
          } else {
            EXPECT_THAT(outcome, IsOk());
            EXPECT_THAT(copied, IsOk());
          }
        });
    EXPECT_EQ(report.faults.fired, 1U);
    EXPECT_EQ(std::count(out.begin(), out.end(), 7), told ? 0 : 253); // no copy from a bad memory
  }
}

TEST(faults, a_refused_allocation_leaves_nothing_behind) {
  const auto report =
      simulate(with({entry(fault_point::allocate, fault_action::refuse_allocation())}),
               [](stage& play) {
                 auto dev = play.runtime().device(0).value();
                 auto ctx = dev.create_context().value();
                 EXPECT_THAT(ctx.allocate<int>(1'000), HasCode(code::device_out_of_memory));
                 EXPECT_EQ(dev.memory().value().used, 0U);
                 EXPECT_THAT(ctx.allocate<int>(1'000), IsOk());
               });
  EXPECT_EQ(report.faults.fired, 1U);
}

} // namespace
} // namespace troupe
