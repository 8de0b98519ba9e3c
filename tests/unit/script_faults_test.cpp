#include "core/exploration/script_faults.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/faults/fault_injector.hpp"
#include "tests/support/status_matchers.hpp"

namespace troupe {
namespace {

using testing::HasSubstr;

result<std::optional<fault_plan>> plan_of_line(const std::string& line) {
  return plan_of(parse_schedule_script(line).value());
}

TEST(script_faults, what_struck_comes_back_as_a_plan) {
  const std::vector<fault_action> actions{
      fault_action::fail_at_execution(code::kernel_timeout), fault_action::corrupt(4, true),
      fault_action::slow(2.5), fault_action::delay(0.00001), fault_action::lose_device(50),
      fault_action::restart_actor()};
  fault_report report;
  for (const auto& each : actions) {
    auto& made = report.activations.emplace_back();
    made.action = each;
    made.victim.point = fault_point::execute;
    made.victim.channel = "stream 3>compute of device 0";
    made.victim.ordinal = ++report.fired;
  }
  const auto script = script_of(report);
  ASSERT_TRUE(script);
  const auto line = to_string(schedule_script{*script});
  EXPECT_THAT(line, HasSubstr("stream 3>compute of device 0 #1 "
                              "fail_at_execution=code="));
  EXPECT_THAT(line, HasSubstr("#2 corrupt=bytes=4=detected=true; "));
  const auto plan = plan_of_line(line);
  ASSERT_THAT(plan, IsOk());
  ASSERT_TRUE(plan.value());
  ASSERT_EQ(plan.value()->entries.size(), actions.size());
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const auto& made = plan.value()->entries[i];
    EXPECT_EQ(made.action, actions[i]);
    EXPECT_EQ(made.pick.point, fault_point::execute);
    EXPECT_EQ(made.pick.ordinal, i + 1);
  }
}

TEST(script_faults, no_faults_differ_from_nothing_said_about_faults) {
  EXPECT_FALSE(plan_of_line("compute 12 #1 +4").value());
  const auto none = plan_of_line("compute 12 #1 +4; " + to_string(schedule_script{{no_faults()}}));
  ASSERT_TRUE(none.value());
  EXPECT_TRUE(none.value()->entries.empty());
}

TEST(script_faults, more_than_a_plan_holds_are_none) {
  fault_report report;
  report.fired = fault_plan::entries_max + 1;
  report.activations.resize(report.fired);
  EXPECT_FALSE(script_of(report));
}

TEST(script_faults, words_that_mean_nothing_are_refused_with_their_entry) {
  const auto said = [](const std::string& line) { return plan_of_line(line).error().message(); };
  EXPECT_THAT(said("engine>stream 3 #7 explode"),
              HasSubstr("'engine>stream 3 #7 explode': action.kind: \"explode\" is not one of"));
  EXPECT_THAT(said("engine>stream 3 #7 delay"), HasSubstr("action.ms is missing"));
  EXPECT_THAT(said("engine>stream 3 #7 delay=ms"), HasSubstr("action.ms: null"));
  EXPECT_THAT(said("engine>stream 3 #7 drop=ms=4"), HasSubstr("action.ms: 4 has no meaning"));
  EXPECT_THAT(said("engine>stream 3 #7 never_complete"), HasSubstr("makes no sense at"));
  EXPECT_THAT(said("compute 12 #7 drop"), HasSubstr("is no channel of faults; they are to ROLE"));
}

} // namespace
} // namespace troupe
