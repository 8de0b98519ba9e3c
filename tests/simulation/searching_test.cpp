// What explore and sweep take for a failure, what they draw, and what they tell of it.

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/simulated.hpp"
#include "tests/support/status_matchers.hpp"
#include "troupe/exploring.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

using ::testing::HasSubstr;
using testing::exploration_options;
using testing::explore;
using testing::stage;

exploration_options few_runs(std::uint64_t runs = 50) {
  exploration_options made;
  made.runs = runs;
  made.base.costs.kernels["long"] = 2'000'000;
  return made;
}

TEST(searching, a_hang_is_a_failure_and_says_who_waits) {
  const auto found = explore(few_runs(), [](stage& play) {
    const auto ctx = make_context(play);
    auto s = ctx.create_stream().value();
    s.wait(play.runtime().create_signal()).or_throw();
    s.synchronize().or_throw();
  });
  ASSERT_TRUE(found.failure);
  EXPECT_THAT(found.failure->what, HasSubstr("nothing can happen any more"));
  EXPECT_THAT(found.failure->what, HasSubstr("to be raised"));
}

TEST(searching, what_the_verdict_says_is_a_failure) {
  std::uint64_t asked = 0;
  const auto found = explore(few_runs(), [](stage&) {},
                             [&asked](const testing::simulation_report&) {
                               return std::string(++asked >= 7 ? "seven is enough" : "");
                             });
  ASSERT_TRUE(found.failure);
  EXPECT_EQ(found.failure->what, "seven is enough");
  EXPECT_EQ(found.runs, 7U);
  EXPECT_EQ(found.failure->found_after, 7U);
}

// Which of two streams' kernels ends first, as the swarm draws whether work ends when it is due.
TEST(searching, the_swarm_draws_how_work_ends) {
  const auto long_before_short = [](stage& play) {
    auto ctx = make_context(play);
    auto a = ctx.create_stream().value();
    auto b = ctx.create_stream().value();
    const auto go = play.runtime().create_signal();
    std::string order;
    a.wait(go).or_throw();
    b.wait(go).or_throw();
    a.launch("long", [&order] { order += 'l'; }).or_throw();
    b.launch("short", [&order] { order += 's'; }).or_throw();
    go.raise();
    ctx.synchronize().or_throw();
    if (order == "ls") throw std::runtime_error("the long one ended first");
  };
  auto options = few_runs(200);
  options.base.runtime.compute_threads = 2;
  EXPECT_TRUE(explore(options, long_before_short).failure);
  options.swarm = false;
  EXPECT_FALSE(explore(options, long_before_short).failure);
}

TEST(searching, the_script_that_is_told_is_the_shrunk_one) {
  const auto found = explore(few_runs(1'000), [](stage& play) {
    auto ctx = make_context(play);
    auto writer = ctx.create_stream().value();
    auto reader = ctx.create_stream().value();
    int cell = 0;
    int seen = -1;
    writer.launch("write", [&cell] { cell = 1; }).or_throw();
    reader.launch("read", [&] { seen = cell; }).or_throw();
    ctx.synchronize().or_throw();
    if (seen != 1) throw std::runtime_error("too early");
  });
  ASSERT_TRUE(found.failure);
  const auto& script = found.failure->script;
  const auto told = static_cast<std::uint64_t>(std::count(script.begin(), script.end(), '#'));
  EXPECT_EQ(told, found.failure->entries) << script;
  EXPECT_EQ(found.failure->found_after, found.runs);
  EXPECT_THAT(found.describe(), HasSubstr(found.failure->replay_line()));
}

TEST(searching, the_environment_widens_a_search_or_is_refused_by_name) {
  ASSERT_EQ(::setenv("TROUPE_SEED", "30", 1), 0);
  ASSERT_EQ(::setenv("TROUPE_RUNS", "7", 1), 0);
  const auto widened = exploration_options::from_environment({});
  ASSERT_EQ(::setenv("TROUPE_RUNS", "seven", 1), 0);
  EXPECT_THAT([] { (void)exploration_options::from_environment({}); },
              ::testing::ThrowsMessage<error>(HasSubstr("TROUPE_RUNS is 'seven'")));
  ASSERT_EQ(::unsetenv("TROUPE_SEED"), 0);
  ASSERT_EQ(::unsetenv("TROUPE_RUNS"), 0);
  EXPECT_EQ(widened.first_seed, 30U);
  EXPECT_EQ(widened.runs, 7U);
}

TEST(searching, a_sweep_strikes_each_thing_once_and_keeps_all_findings) {
  const auto five_tasks = [](stage& play) {
    const auto ctx = make_context(play);
    auto s = ctx.create_stream().value();
    for (int i = 0; i < 5; ++i) s.launch("work", [] {}).or_throw();
    (void)s.synchronize();
  };
  const auto struck_is_bad = [](const testing::simulation_report& report) {
    return report.faults.activations.empty()
               ? std::string()
               : "task " + std::to_string(report.faults.activations.front().victim.ordinal);
  };
  const auto swept = testing::sweep({}, five_tasks, struck_is_bad,
                                    {{fault_point::execute, fault_action::fail_at_execution()}});
  EXPECT_EQ(swept.faults, 5U);
  EXPECT_EQ(swept.runs, 6U);
  ASSERT_EQ(swept.findings.size(), 5U);
  EXPECT_EQ(swept.findings[4].what, "task 5");
}

} // namespace
} // namespace troupe
