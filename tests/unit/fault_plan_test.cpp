#include "core/faults/fault_plan.hpp"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <limits>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/status_matchers.hpp"

namespace troupe {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// The message of a text that must not be accepted; its code must be `what`.
std::string refusal(const std::string& text, code what = code::invalid_parameter) {
  const auto read = fault_plan::from_json(text);
  EXPECT_THAT(read, HasCode(what)) << text;
  return read.error().message();
}

std::string one(const std::string& pick, const std::string& action) {
  return R"({"entries": [{"pick": )" + pick + R"(, "action": )" + action + "}]}";
}

std::string with_action(const std::string& action) {
  return one(R"({"point": "execute"})", action);
}

std::string with_pick(const std::string& fields) {
  return one(R"({"point": "complete", )" + fields + "}", R"({"kind": "drop"})");
}

fault_plan plan_of(fault_point point, const fault_action& action) {
  fault_plan plan;
  plan.entries.emplace_back();
  plan.entries.back().pick.point = point;
  plan.entries.back().action = action;
  return plan;
}

/// Every factory of an action with values that differ from the defaults, at a point that fits.
std::vector<std::pair<fault_point, fault_action>> all_actions() {
  using at = fault_point;
  return {{at::message, fault_action::delay(2.5)},
          {at::notice, fault_action::hold_until(100)},
          {at::handoff, fault_action::drop()},
          {at::complete, fault_action::duplicate()},
          {at::submit, fault_action::fail_at_submit(code::queue_full)},
          {at::execute, fault_action::fail_at_execution(code::kernel_timeout)},
          {at::execute, fault_action::never_complete()},
          {at::execute, fault_action::slow(1.5)},
          {at::execute, fault_action::corrupt(3, true)},
          {at::allocate, fault_action::refuse_allocation(code::over_limit)},
          {at::message, fault_action::kill_actor()},
          {at::message, fault_action::reorder()},
          {at::message, fault_action::pause_actor(20)},
          {at::execute, fault_action::restart_actor()},
          {at::heartbeat, fault_action::lose_device(30)}};
}

TEST(fault_plan, reads_every_field_from_json_and_keeps_the_rest) {
  const auto read = fault_plan::from_json(R"({
    "name": "nightly", "seed": 9007199254740991, "entries": [
      {"name": "lost", "pick": {"point": "execute", "device": 0, "context": 2, "stream": 3,
        "engine": "dma_d2h", "operation": "scale", "channel": "stream 3>dma_d2h of device 0",
        "ordinal": 5,
        "from_ms": 0.5, "until_ms": 1e3, "chance": 0.25, "times": 6},
        "action": {"kind": "corrupt", "bytes": 7, "detected": true}},
      {"pick": {"point": "message", "message": "doorbell"}, "action": {"kind": "kill_actor"}}]})");
  ASSERT_THAT(read, IsOk());
  fault_plan expected{"nightly", 9007199254740991U, std::vector<fault_entry>(2)};
  expected.entries[0] = {"lost",
                         {{fault_point::execute, 0U, 2U, 3U, "dma_d2h", "", "scale",
                          "stream 3>dma_d2h of device 0", 5},
                          0.5, 1000, 0.25, 6},
                         fault_action::corrupt(7, true)};
  expected.entries[1].pick.point = fault_point::message;
  expected.entries[1].pick.message = "doorbell";
  expected.entries[1].action = fault_action::kill_actor();
  EXPECT_EQ(read.value(), expected);
  EXPECT_EQ(fault_plan::from_json("{}").value(), fault_plan{});
  EXPECT_EQ(fault_pick{}.times, 1U);
}

TEST(fault_plan, every_action_and_point_survives_a_round_trip) {
  fault_plan plan;
  plan.name = "all \"of\"\nthem";
  plan.seed = 42;
  std::set<fault_kind> kinds;
  for (const auto& [point, action] : all_actions()) {
    kinds.insert(action.kind);
    plan.entries.push_back({"", {}, action});
    plan.entries.back().pick.point = point;
  }
  EXPECT_EQ(kinds.size(), fault_kind_count);
  plan.entries[3].name = "named";
  plan.entries[3].pick.device = 0;
  plan.entries[3].pick.chance = 0.1;
  plan.entries[3].pick.times = 0;
  plan.entries[3].pick.operation = "scale";
  ASSERT_THAT(plan.validate(), IsOk());
  const auto read = fault_plan::from_json(plan.to_json());
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read.value(), plan);
  EXPECT_EQ(read.value().to_json(), plan.to_json());
}

TEST(fault_plan, writes_no_field_that_has_its_default) {
  EXPECT_EQ(nlohmann::json::parse(plan_of(fault_point::notice, fault_action::drop()).to_json()),
            nlohmann::json::parse(one(R"({"point": "notice"})", R"({"kind": "drop"})")));
  EXPECT_EQ(nlohmann::json::parse(fault_plan{}.to_json()),
            nlohmann::json::parse(R"({"entries": []})"));
}

TEST(fault_plan, names_its_entries_by_number_unless_they_have_a_name) {
  fault_plan plan;
  plan.entries.resize(2);
  plan.entries[1].name = "mine";
  EXPECT_EQ(plan.entry_name(0), "entry 1");
  EXPECT_EQ(plan.entry_name(1), "mine");
}

TEST(fault_plan, refuses_a_bad_value_with_entry_field_value_and_what_is_allowed) {
  EXPECT_EQ(refusal(with_pick(R"("device": -1)")),
            "fault plan: entry 1: pick.device: -1 is not a whole number from 0 to "
            "9007199254740991");
  EXPECT_EQ(refusal(R"({"entries": [{"pick": {"point": "notice"}, "action": {"kind": "drop"}},
                      {"name": "b", "pick": {"point": "notice", "chance": 2},
                       "action": {"kind": "drop"}}]})"),
            "fault plan: entry 2 \"b\": pick.chance: 2 is not a number above 0 and up to 1");
  EXPECT_THAT(refusal(with_pick(R"("engine": "gpu")")),
              HasSubstr("pick.engine: \"gpu\" is not one of compute, dma_h2d, dma_d2h, dma_d2d, "
                        "callback"));
  EXPECT_THAT(refusal(one(R"({"point": "exec"})", R"({"kind": "drop"})")),
              HasSubstr("pick.point: \"exec\" is not one of message, submit, handoff, execute, "
                        "complete, notice, allocate, reply, timer, heartbeat"));
  EXPECT_THAT(refusal(one(R"({"point": 3})", R"({"kind": "drop"})")),
              HasSubstr("pick.point: 3 is not one of message"));
  EXPECT_THAT(refusal(with_action(R"({"kind": "explode"})")),
              HasSubstr("action.kind: \"explode\" is not one of delay, hold_until"));
  EXPECT_THAT(refusal(with_pick(R"("operation": "")")), HasSubstr("a text of 1 to 255 bytes"));
  EXPECT_THAT(refusal(with_pick(R"("ordinal": 1.5)")), HasSubstr("pick.ordinal: 1.5"));
  EXPECT_THAT(refusal(with_action(R"({"kind": "corrupt", "detected": 1})")),
              HasSubstr("action.detected: 1 is not true or false"));
  EXPECT_THAT(refusal(with_action(R"({"kind": "corrupt", "bytes": 0})")),
              HasSubstr("action.bytes: 0 is not a whole number from 1 to 1048576"));
  EXPECT_THAT(refusal(with_action(R"({"kind": "slow", "factor": 0.5})")),
              HasSubstr("action.factor: 0.5 is not a number from 1 to"));
  EXPECT_THAT(refusal(with_action(R"({"kind": "fail_at_execution", "code": 0})")),
              HasSubstr("action.code: 0 is not a whole number from 100000 to 599999"));
  EXPECT_THAT(refusal(R"({"seed": 9007199254740992})"), HasSubstr("fault plan: seed: "));
}

TEST(fault_plan, refuses_a_wrong_structure_and_says_where) {
  EXPECT_THAT(refusal("{", code::parse_file), HasSubstr("fault plan: "));
  const auto deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_THAT(refusal("{\"entries\": " + deep + "}"),
              AllOf(HasSubstr("entries: "), HasSubstr("32 deep")));
  EXPECT_THAT(refusal(R"({"seed": 1, "seed": 2})", code::parse_file), HasSubstr("given twice"));
  EXPECT_THAT(refusal("[]"), HasSubstr("[] is not a JSON object"));
  EXPECT_THAT(refusal(R"({"entries": {}})"), HasSubstr("entries: {} is not an array"));
  EXPECT_THAT(refusal(R"({"entries": [3]})"), HasSubstr("entry 1: 3 is not a JSON object"));
  EXPECT_THAT(refusal(one("[]", R"({"kind": "drop"})")),
              HasSubstr("entry 1: pick: [] is not a JSON object"));
  EXPECT_THAT(refusal(with_action("\"drop\"")), HasSubstr("entry 1: action: \"drop\" is not"));
  EXPECT_THAT(refusal(R"({"entries": [{"pick": {"point": "notice"}}]})"),
              HasSubstr("entry 1: action is missing"));
  EXPECT_THAT(refusal(one(R"({"device": 1})", R"({"kind": "drop"})")),
              HasSubstr("entry 1: pick.point is missing; it is one of message"));
  EXPECT_THAT(refusal(with_action("{}")), HasSubstr("action.kind is missing; it is one of delay"));
}

TEST(fault_plan, lists_the_nearest_known_names_for_an_unknown_field) {
  EXPECT_EQ(refusal(with_pick(R"("strem": 3)")),
            "fault plan: entry 1: pick.strem: 3 is given for an unknown field; the nearest known "
            "are pick.stream, seed, pick.times");
  EXPECT_THAT(refusal(R"({"sed": 1})"), HasSubstr("sed: 1 is given for an unknown field; the "
                                                  "nearest known are seed, "));
  // A field that stands in the wrong object is found where it belongs.
  EXPECT_THAT(refusal(R"({"entries": [{"stream": 3}]})"),
              HasSubstr("entry 1: stream: 3 is given for an unknown field; the nearest known are "
                        "pick.stream, "));
  EXPECT_THAT(refusal(with_action(R"({"kind": "delay", "delay_ms": 3})")),
              AllOf(HasSubstr("action.delay_ms: 3"), HasSubstr("action.")));
  EXPECT_LT(refusal(R"({")" + std::string(100000, 'x') + R"(": 1})").size(), 600U);
}

TEST(fault_plan, refuses_an_action_at_a_point_where_it_makes_no_sense_and_lists_those_that_do) {
  EXPECT_EQ(refusal(one(R"({"point": "allocate"})", R"({"kind": "drop"})")),
            "fault plan: entry 1: action.kind: \"drop\" makes no sense at pick.point \"allocate\"; "
            "there, do one of refuse_allocation");
  EXPECT_THAT(refusal(one(R"({"point": "submit"})", R"({"kind": "fail_at_execution"})")),
              HasSubstr("do one of drop, fail_at_submit"));
  // Validation and the table agree for all pairs.
  int pairs = 0;
  for (const auto& [unused, action] : all_actions()) {
    for (std::size_t p = 0; p < fault_point_count; ++p) {
      const auto point = static_cast<fault_point>(p);
      const bool sensible = rule_of(action.kind).makes_sense_at(point);
      EXPECT_EQ(plan_of(point, action).validate().ok(), sensible)
          << to_string(action.kind) << " at " << to_string(point);
      pairs += sensible;
    }
  }
  EXPECT_EQ(pairs, 44);
}

TEST(fault_plan, refuses_a_parameter_that_the_action_does_not_take) {
  EXPECT_EQ(refusal(with_action(R"({"kind": "slow", "factor": 2, "ms": 5})")),
            "fault plan: entry 1: action.ms: 5 has no meaning for slow, which takes factor");
  EXPECT_THAT(refusal(one(R"({"point": "notice"})", R"({"kind": "drop", "factor": 1})")),
              HasSubstr("action.factor: 1 has no meaning for drop, which takes nothing"));
  auto plan = plan_of(fault_point::execute, fault_action::slow(2));
  plan.entries[0].action.detected = true;
  EXPECT_THAT(plan.validate(), SaysThat("action.detected: true has no meaning for slow"));
}

TEST(fault_plan, refuses_an_action_without_the_parameter_that_it_needs) {
  EXPECT_EQ(refusal(with_action(R"({"kind": "slow"})")),
            "fault plan: entry 1: action.factor is missing; slow needs a number from 1 to 1000000");
  EXPECT_THAT(refusal(with_action(R"({"kind": "delay"})")),
              HasSubstr("action.ms is missing; delay needs a number above 0"));
  EXPECT_THAT(refusal(with_action(R"({"kind": "delay", "ms": 0})")), HasSubstr("action.ms: 0"));
  EXPECT_THAT(plan_of(fault_point::message, fault_action::delay(0)).validate(),
              SaysThat("entry 1: action.ms: 0 is not a number above 0"));
}

TEST(fault_plan, breaks_a_promised_order_only_where_it_is_asked_to) {
  EXPECT_EQ(refusal(one(R"({"point": "complete"})", R"({"kind": "reorder"})")),
            "fault plan: entry 1: action.kind: \"reorder\" at pick.point \"complete\" would break "
            "an order that is promised; there is none between senders at \"message\", nor between "
            "streams at \"handoff\"");
  EXPECT_THAT(refusal(one(R"({"point": "submit"})", R"({"kind": "reorder", "adversarial": true})")),
              HasSubstr("would break an order that is promised"));
  EXPECT_THAT(refusal(one(R"({"point": "handoff"})",
                          R"({"kind": "reorder", "adversarial": true})")),
              HasSubstr("action.adversarial: true has no meaning at pick.point \"handoff\""));
  EXPECT_THAT(refusal(with_action(R"({"kind": "slow", "factor": 2, "adversarial": true})")),
              HasSubstr("action.adversarial: true has no meaning for slow"));
  const auto read = fault_plan::from_json(
      one(R"({"point": "message"})", R"({"kind": "reorder", "adversarial": true})"));
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read.value().entries[0].action, fault_action::reorder(true));
}

TEST(fault_plan, pauses_an_actor_for_a_time_or_until_one) {
  const auto pause = [](const std::string& more) {
    return one(R"({"point": "message"})", R"({"kind": "pause_actor")" + more + "}");
  };
  EXPECT_THAT(fault_plan::from_json(pause(R"(, "ms": 5)")), IsOk());
  EXPECT_THAT(fault_plan::from_json(pause(R"(, "until_ms": 5)")), IsOk());
  EXPECT_EQ(refusal(pause("")),
            "fault plan: entry 1: action: pause_actor needs one of ms and until_ms, and has "
            "neither");
  EXPECT_THAT(refusal(pause(R"(, "ms": 5, "until_ms": 6)")), HasSubstr("and has both"));
  EXPECT_THAT(refusal(pause(R"(, "ms": 0)")), HasSubstr("action.ms: 0 is not a number above 0"));
}

TEST(fault_plan, loses_a_device_for_a_time_or_for_good) {
  const auto lose = [](const std::string& more) {
    return one(R"({"point": "heartbeat", "device": 1})", R"({"kind": "lose_device")" + more + "}");
  };
  EXPECT_EQ(fault_plan::from_json(lose("")).value().entries[0].action,
            fault_action::lose_device());
  EXPECT_EQ(fault_plan::from_json(lose(R"(, "ms": 5)")).value().entries[0].action,
            fault_action::lose_device(5));
  EXPECT_THAT(refusal(lose(R"(, "ms": -1)")), HasSubstr("action.ms: -1"));
  EXPECT_THAT(refusal(lose(R"(, "until_ms": 5)")),
              HasSubstr("action.until_ms: 5 has no meaning for lose_device, which takes ms, code"));
}

TEST(fault_plan, refuses_a_window_that_is_never_open) {
  EXPECT_THAT(refusal(with_pick(R"("from_ms": 5, "until_ms": 5)")),
              AllOf(HasSubstr("pick.until_ms: 5"), HasSubstr("pick.from_ms, which is 5")));
  EXPECT_THAT(fault_plan::from_json(with_pick(R"("from_ms": 5, "until_ms": 0)")), IsOk());
}

TEST(fault_plan, validates_what_code_has_set) {
  const auto said = [](auto change) {
    auto plan = plan_of(fault_point::execute, fault_action::corrupt(1, false));
    change(plan, plan.entries[0]);
    EXPECT_THAT(plan.validate(), HasCode(code::invalid_parameter));
    return plan.validate().message();
  };
  EXPECT_THAT(said([](auto& plan, auto&) { plan.seed = ~std::uint64_t{0}; }), HasSubstr("seed: "));
  EXPECT_THAT(said([](auto&, auto& entry) { entry.pick.chance = 1.5; }),
              HasSubstr("entry 1: pick.chance: 1.5 is not a number above 0 and up to 1"));
  EXPECT_THAT(said([](auto&, auto& entry) {
                entry.pick.chance = std::numeric_limits<double>::quiet_NaN();
              }), HasSubstr("pick.chance: "));
  EXPECT_THAT(said([](auto&, auto& entry) { entry.pick.engine = "gpu"; }), HasSubstr("one of"));
  EXPECT_THAT(said([](auto&, auto& entry) { entry.action.bytes = 0; }), HasSubstr("bytes: 0"));
  EXPECT_THAT(said([](auto&, auto& entry) { entry.name = std::string(256, 'x'); }),
              HasSubstr("name: "));
  EXPECT_THAT(said([](auto&, auto& entry) { entry.action.kind = static_cast<fault_kind>(99); }),
              HasSubstr("action.kind"));
  EXPECT_THAT(said([](auto&, auto& entry) { entry.pick.point = static_cast<fault_point>(99); }),
              HasSubstr("pick.point"));
  EXPECT_THAT(plan_of(fault_point::submit, fault_action::fail_at_submit(code{5})).validate(),
              SaysThat("action.code: 5"));
}

TEST(fault_plan, has_at_most_a_thousand_entries) {
  auto plan = plan_of(fault_point::notice, fault_action::drop());
  plan.entries.resize(1000, plan.entries[0]);
  EXPECT_THAT(plan.validate(), IsOk());
  EXPECT_THAT(fault_plan::from_json(plan.to_json()), IsOk());
  plan.entries.push_back(plan.entries[0]);
  EXPECT_THAT(plan.validate(), SaysThat("entries: 1001 entries are not from 0 to 1000"));
  EXPECT_THAT(refusal(plan.to_json()), HasSubstr("entries: 1001 entries are not from 0 to 1000"));
}

TEST(fault_plan, comes_from_a_file_and_names_it_in_every_failure) {
  const std::string path =
      testing::TempDir() + "fault_plan_test_" + std::to_string(::getpid()) + ".json";
  std::ofstream(path) << R"({"seed": 5})";
  EXPECT_EQ(fault_plan::from_file(path).value().seed, 5U);
  std::ofstream(path) << with_pick(R"("times": -1)");
  EXPECT_THAT(fault_plan::from_file(path).error(),
              AllOf(HasCode(code::invalid_parameter),
                    SaysThat(path + ": entry 1: pick.times: -1")));
  std::ofstream(path) << "{";
  EXPECT_THAT(fault_plan::from_file(path).error(),
              AllOf(HasCode(code::parse_file), SaysThat(path)));
  std::remove(path.c_str());
  EXPECT_THAT(fault_plan::from_file(path).error(),
              AllOf(HasCode(code::invalid_file), SaysThat(path + ": cannot read the file")));
}

TEST(fault_action, has_a_usual_code_that_an_entry_may_replace) {
  EXPECT_EQ(fault_action::fail_at_execution().outcome(), code::kernel_exception);
  EXPECT_EQ(fault_action::fail_at_execution(code::kernel_timeout).outcome(), code::kernel_timeout);
  EXPECT_EQ(fault_action::refuse_allocation().outcome(), code::device_out_of_memory);
  EXPECT_EQ(static_cast<int>(fault_action::corrupt(1, true).outcome()), 507054);
  EXPECT_EQ(fault_action::corrupt(1, false).outcome(), code::success);
  EXPECT_EQ(fault_action::drop().outcome(), code::success);
  EXPECT_EQ(static_cast<int>(fault_action::lose_device().outcome()), 507010);
}

TEST(fault_action, says_what_it_does) {
  EXPECT_EQ(describe(fault_action::delay(2.5)), "delay for 2.5 ms");
  EXPECT_EQ(describe(fault_action::hold_until(1e9)), "hold_until 1000000000 ms");
  EXPECT_EQ(describe(fault_action::slow(10)), "slow by a factor of 10");
  EXPECT_EQ(describe(fault_action::corrupt(1, false)), "corrupt 1 byte, silent");
  EXPECT_EQ(describe(fault_action::corrupt(2, true)), "corrupt 2 bytes with 507054");
  EXPECT_EQ(describe(fault_action::drop()), "drop");
  EXPECT_EQ(describe(fault_action::reorder()), "reorder");
  EXPECT_EQ(describe(fault_action::reorder(true)), "reorder, adversarial");
  EXPECT_EQ(describe(fault_action::pause_actor(5)), "pause_actor for 5 ms");
  EXPECT_EQ(describe(fault_action::lose_device()), "lose_device for good with 507010");
  EXPECT_EQ(describe(fault_action::lose_device(3)), "lose_device for 3 ms with 507010");
}

TEST(fault_action, times_of_a_plan_become_nanoseconds) {
  EXPECT_EQ(to_ns(0.0005), 500);
  EXPECT_EQ(to_ns(1.001), 1'001'000); // the product is a little less
  EXPECT_EQ(to_ns(1e9), 1'000'000'000'000'000);
}

TEST(fault_plan, describes_each_field_and_action_from_the_table_it_reads_by) {
  const auto fields = describe_fault_fields();
  EXPECT_THAT(fields, HasSubstr("| pick | `chance` | 1 | a number above 0 and up to 1 |"));
  EXPECT_THAT(fields, HasSubstr("| pick | `point` | required | one of message, submit, "));
  EXPECT_THAT(fields, HasSubstr("| pick | `device` |  | a whole number from 0 to "));
  EXPECT_THAT(fields, HasSubstr(" | handoff, execute | kind of the engine |"));
  EXPECT_THAT(fields, HasSubstr(" | all | name of the channel |"));
  EXPECT_THAT(fields, HasSubstr("| action | `detected` | false | true or false |"));
  EXPECT_THAT(fields, HasSubstr("| plan | `entries` |  | an array of 0 to 1000 entries |"));
  EXPECT_THAT(fields, Not(HasSubstr("pick.")));
  const auto actions = describe_fault_actions();
  for (const auto name : fault_kind_names())
    EXPECT_THAT(actions, HasSubstr("| `" + std::string(name) + "` | "));
  EXPECT_THAT(actions, HasSubstr("| `corrupt` | bytes, detected | execute |  |"));
  EXPECT_THAT(actions, HasSubstr("| `refuse_allocation` | code | allocate | 207018 |"));
}

} // namespace
} // namespace troupe
