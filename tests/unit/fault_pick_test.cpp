// Which fields of a pick can fit at which point, and which action can be done there: the tables
// against what the runtime carries out (actors/faults/fault_gate.cpp and those who ask it).
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/faults/fault_plan.hpp"
#include "tests/support/status_matchers.hpp"

namespace troupe {
namespace {

using at = fault_point;
using testing::HasSubstr;

/// Some action that can be done at `point`.
fault_action action_at(fault_point point) {
  switch (point) {
    case at::submit: return fault_action::fail_at_submit();
    case at::allocate: return fault_action::refuse_allocation();
    case at::heartbeat: return fault_action::lose_device();
    default: return fault_action::delay(1);
  }
}

fault_plan picking_at(fault_point point, const std::function<void(fault_pick&)>& set) {
  fault_plan plan;
  plan.entries.emplace_back();
  plan.entries[0].pick.point = point;
  plan.entries[0].action = action_at(point);
  set(plan.entries[0].pick);
  return plan;
}

struct field {
  std::string_view name;
  std::function<void(fault_pick&)> set;
  std::set<fault_point> points; ///< where a site has it
};

std::string channel_at(fault_point point) {
  const std::map<fault_point, std::string> names{
      {at::message, "to memory 6"},
      {at::submit, "client>stream 1"},
      {at::handoff, "stream 1>port compute of device 0"},
      {at::execute, "stream 1>compute of device 0"},
      {at::complete, "engine>stream 1"},
      {at::notice, "stream 1>who waits"},
      {at::allocate, "from pinned host memory"},
      {at::reply, "from context 11"},
      {at::timer, "timer of stream 1"},
      {at::heartbeat, "heartbeat of device 0"}};
  return names.at(point);
}

const std::vector<field>& fields() {
  static const std::set<fault_point> all{at::message,  at::submit, at::handoff, at::execute,
                                         at::complete, at::notice, at::allocate, at::reply,
                                         at::timer,    at::heartbeat};
  static const std::vector<field> made{
      {"device", [](auto& p) { p.device = 0; },
       {at::submit, at::handoff, at::execute, at::complete, at::timer, at::heartbeat}},
      {"context", [](auto& p) { p.context = 0; },
       {at::submit, at::handoff, at::execute, at::complete, at::allocate, at::timer}},
      {"stream", [](auto& p) { p.stream = 0; },
       {at::submit, at::handoff, at::execute, at::complete, at::notice, at::timer}},
      {"engine", [](auto& p) { p.engine = "compute"; }, {at::handoff, at::execute}},
      {"message", [](auto& p) { p.message = "doorbell"; }, {at::message}},
      {"operation",
       [](auto& p) { p.operation = p.point == at::reply ? "device::memory" : "scale"; },
       {at::submit, at::execute, at::complete, at::reply}},
      {"channel", [](auto& p) { p.channel = channel_at(p.point); }, all},
      {"ordinal", [](auto& p) { p.ordinal = 1; }, all},
      {"from_ms", [](auto& p) { p.from_ms = 1; }, all},
      {"until_ms", [](auto& p) { p.until_ms = 1; }, all},
      {"chance", [](auto& p) { p.chance = 0.5; }, all},
      {"times", [](auto& p) { p.times = 0; }, all}};
  return made;
}

std::string fields_at(fault_point point) {
  std::string list;
  for (const auto& each : fields()) {
    if (!each.points.contains(point)) continue;
    list += (list.empty() ? "" : ", ") + std::string(each.name);
  }
  return list;
}

TEST(fault_pick, is_refused_where_no_site_has_what_it_asks_for_and_told_by_what_to_pick_there) {
  for (std::size_t i = 0; i < fault_point_count; ++i) {
    const auto point = static_cast<fault_point>(i);
    const std::string shown(to_string(point));
    for (const auto& each : fields()) {
      const auto plan = picking_at(point, each.set);
      SCOPED_TRACE(std::string(each.name) + " at " + shown);
      if (each.points.contains(point)) {
        EXPECT_THAT(plan.validate(), IsOk());
        EXPECT_THAT(fault_plan::from_json(plan.to_json()), IsOk());
        continue;
      }
      EXPECT_THAT(plan.validate(), HasCode(code::invalid_parameter));
      const auto said = plan.validate().message();
      EXPECT_THAT(said, HasSubstr("fault plan: entry 1: pick." + std::string(each.name) + ": "));
      EXPECT_TRUE(said.ends_with(" never fits at pick.point \"" + shown + "\"; there, pick by " +
                                 fields_at(point)))
          << said;
      const auto read = fault_plan::from_json(plan.to_json());
      ASSERT_THAT(read, HasCode(code::invalid_parameter));
      EXPECT_EQ(read.error().message(), said);
    }
  }
}

TEST(fault_pick, says_what_is_wrong_in_one_line) {
  const auto plan = picking_at(at::complete, [](auto& p) { p.engine = "dma_h2d"; });
  EXPECT_EQ(plan.validate().message(),
            "fault plan: entry 1: pick.engine: \"dma_h2d\" never fits at pick.point \"complete\"; "
            "there, pick by device, context, stream, operation, channel, ordinal, from_ms, "
            "until_ms, chance, times");
}

TEST(fault_pick, knows_no_pool) {
  EXPECT_THAT(fault_plan::from_json(R"({"entries": [{"pick": {"point": "allocate", "pool": 1},
                                        "action": {"kind": "refuse_allocation"}}]})")
                  .error(),
              SaysThat("pick.pool: 1 is given for an unknown field"));
}

TEST(fault_action, is_offered_where_the_runtime_carries_it_out_and_nowhere_else) {
  const std::set<fault_point> late{at::message, at::handoff, at::execute, at::complete,
                                   at::notice,  at::reply,   at::timer};
  const std::map<std::string_view, std::set<fault_point>> offered{
      {"delay", late},
      {"hold_until", late},
      {"drop",
       {at::message, at::submit, at::handoff, at::complete, at::notice, at::reply, at::timer}},
      {"duplicate", {at::message, at::handoff, at::complete, at::notice, at::reply}},
      {"fail_at_submit", {at::submit}},
      {"fail_at_execution", {at::execute}},
      {"never_complete", {at::execute}},
      {"slow", {at::execute}},
      {"corrupt", {at::execute}},
      {"refuse_allocation", {at::allocate}},
      {"kill_actor", {at::message, at::execute}},
      {"reorder", {at::message, at::handoff}},
      {"pause_actor", {at::message}},
      {"restart_actor", {at::message, at::execute}},
      {"lose_device", {at::submit, at::handoff, at::execute, at::complete, at::heartbeat}}};
  ASSERT_EQ(offered.size(), fault_kind_count);
  for (std::size_t k = 0; k < fault_kind_count; ++k) {
    const auto kind = static_cast<fault_kind>(k);
    ASSERT_TRUE(offered.contains(to_string(kind))) << to_string(kind);
    for (std::size_t p = 0; p < fault_point_count; ++p) {
      const auto point = static_cast<fault_point>(p);
      EXPECT_EQ(rule_of(kind).makes_sense_at(point), offered.at(to_string(kind)).contains(point))
          << to_string(kind) << " at " << to_string(point);
    }
  }
}

} // namespace
} // namespace troupe
