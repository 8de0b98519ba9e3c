#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/status_matchers.hpp"
#include "troupe/tenants.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

using testing::compare_tenants;
using testing::simulation_options;
using testing::stage;
using namespace std::chrono_literals;

// Two streams, an event, and a sum that goes on record.
void tenant_a(stage& play) {
  auto ctx = play.runtime().device(0).value().create_context().value();
  auto a = ctx.create_stream().value();
  auto b = ctx.create_stream().value();
  auto ready = ctx.create_event().value();
  auto data = ctx.allocate<int>(16).value();
  std::vector<int> host(16, 1);
  a.copy(data, std::span<const int>(host)).or_throw();
  for (int i = 0; i < 5; ++i) {
    a.launch("add", [](std::span<int> all) { for (auto& each : all) ++each; }, data).or_throw();
  }
  a.record(ready).or_throw();
  b.wait(ready).or_throw();
  b.launch("refuse", [] { throw std::runtime_error("no"); }).or_throw();
  b.copy(std::span(host), data).or_throw();
  (void)b.synchronize();
  play.observe("sum", std::span<const int>(host));
}

void tenant_b(stage& play) {
  auto ctx = play.runtime().device(0).value().create_context().value();
  auto s = ctx.create_stream().value();
  auto data = ctx.allocate<unsigned>(16).value();
  for (int i = 0; i < 5; ++i) {
    (void)s.launch("grow", [](std::span<unsigned> all) { for (auto& each : all) each *= 2; }, data);
  }
  (void)s.synchronize(200ms);
  (void)s.abort();
}

simulation_options explored(std::uint64_t seed) {
  simulation_options made;
  made.seed = seed;
  made.choice = testing::order::explore;
  return made;
}

fault_plan plan_of(fault_point point, fault_action action) {
  fault_plan made;
  auto& entry = made.entries.emplace_back();
  entry.pick.point = point;
  entry.pick.times = 0;
  entry.action = action;
  return made;
}

TEST(tenants, N4_faults_on_the_one_make_no_difference_to_the_other) {
  const std::vector<fault_plan> plans{
      {},
      plan_of(fault_point::submit, fault_action::drop()),
      plan_of(fault_point::execute, fault_action::fail_at_execution()),
      plan_of(fault_point::execute, fault_action::never_complete()),
      plan_of(fault_point::execute, fault_action::corrupt(4, false)),
      plan_of(fault_point::execute, fault_action::kill_actor()),
      plan_of(fault_point::complete, fault_action::drop()),
      plan_of(fault_point::handoff, fault_action::duplicate()),
      plan_of(fault_point::allocate, fault_action::refuse_allocation()),
  };
  for (const auto& plan : plans) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      const auto seen = compare_tenants(explored(seed), &tenant_a, &tenant_b, plan);
      SCOPED_TRACE("seed " + std::to_string(seed) + ": " + seen.describe());
      EXPECT_TRUE(seen.isolated());
      EXPECT_EQ(seen.faults.fired != 0, !plan.entries.empty());
      ASSERT_EQ(seen.alone.size(), 9U);
      EXPECT_EQ(seen.alone[1], "stream 1 of a, #2 kernel 'add', worked");
      EXPECT_EQ(seen.alone[6], "stream 2 of a, #1 kernel 'refuse', worked, failed with 507015");
    }
  }
}

TEST(tenants, a_difference_is_told_as_the_first_line_that_differs) {
  int shared = 1; // what they must not have
  const auto reads = [&shared](stage& play) {
    auto ctx = play.runtime().device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    int seen = 0;
    play.pass_time(10ms);
    s.launch("read", [&] { seen = shared; }).or_throw();
    s.synchronize().or_throw();
    play.observe("cell", std::span<const int>(&seen, 1));
  };
  const auto writes = [&shared](stage& play) {
    auto ctx = play.runtime().device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    s.launch("write", [&] { shared = 2; }).or_throw();
    s.synchronize().or_throw();
  };
  const auto seen = compare_tenants({}, reads, writes);
  EXPECT_FALSE(seen.isolated());
  EXPECT_NE(seen.difference().find("alone: observed 'cell': 4 bytes"), std::string::npos)
      << seen.describe();
}

TEST(tenants, a_plan_that_would_touch_both_is_refused) {
  try {
    (void)compare_tenants({}, &tenant_a, &tenant_b,
                          plan_of(fault_point::message, fault_action::drop()));
    ADD_FAILURE() << "not refused";
  } catch (const error& refused) {
    EXPECT_NE(std::string(refused.what()).find("entry 1 strikes at point message"),
              std::string::npos)
        << refused.what();
  }
  auto options = explored(1);
  options.faults.emplace();
  EXPECT_THROW((void)compare_tenants(options, &tenant_a, &tenant_b), error);
}

bool doubts(const testing::tenant_comparison& seen, const std::string& text) {
  return !seen.isolated() && std::any_of(seen.doubts.begin(), seen.doubts.end(),
                                         [&](const auto& each) {
                                           return each.find(text) != std::string::npos;
                                         });
}

void hanging_tenant(stage& play) {
  auto ctx = play.runtime().device(0).value().create_context().value();
  auto s = ctx.create_stream().value();
  s.wait(play.runtime().create_signal()).or_throw();
  s.synchronize().or_throw();
}

TEST(tenants, a_comparison_that_proves_nothing_says_why) {
  const auto nothing = [](stage&) {};
  const auto throws = [](stage&) { throw std::runtime_error("no"); };
  EXPECT_TRUE(compare_tenants({}, &tenant_a, nothing).isolated());
  const auto told = [](const auto& a, const auto& b, const std::string& text,
                       const fault_plan& plan = {}) {
    const auto seen = compare_tenants({}, a, b, plan);
    EXPECT_TRUE(doubts(seen, text)) << text << " in:\n" << seen.describe();
    EXPECT_NE(seen.describe().find("not conclusive: "), std::string::npos);
  };
  told(nothing, &tenant_b, "a did nothing that could be compared");
  told(&hanging_tenant, &tenant_b, "alone: the run hung");
  told(&tenant_a, &hanging_tenant, "beside b: the run hung");
  told(throws, &tenant_b, "alone: a threw: no");
  told(&tenant_a, throws, "b threw: no, though no fault had struck it");
  auto idle = plan_of(fault_point::execute, fault_action::fail_at_execution());
  idle.entries.front().name = "nobody";
  idle.entries.front().pick.operation = "no such kernel";
  told(&tenant_a, &tenant_b, "fault 'nobody' never fired, 0 matches", idle);
}

TEST(tenants, a_rule_that_either_run_breaks_is_told) {
  for (const bool beside : {false, true}) {
    auto options = explored(1);
    options.oracles.push_back({"no b", [beside](const run_record& record) -> std::string {
                                 const bool has_b =
                                     std::any_of(record.events.begin(), record.events.end(),
                                                 [](const auto& each) { return each.tenant == 2; });
                                 return has_b == beside ? "broken" : "";
                               }});
    const auto seen = compare_tenants(options, &tenant_a, &tenant_b);
    EXPECT_TRUE(seen.difference().empty());
    EXPECT_FALSE(seen.isolated());
    ASSERT_EQ(seen.violations.size(), 1U);
    EXPECT_EQ(seen.violations.front().oracle, "no b");
  }
}

TEST(tenants, bad_options_are_thrown) {
  simulation_options bad;
  bad.runtime.queue_depth = 0;
  EXPECT_THROW((void)compare_tenants(bad, &tenant_a, &tenant_b), error);
  simulation_options scripted;
  scripted.replay_script = "";
  EXPECT_THROW((void)compare_tenants(scripted, &tenant_a, &tenant_b), error);
}

} // namespace
} // namespace troupe
