// What a search says about a run is the run's: no run before it, no script of another program and
// no plan that does nothing may decide it.

#include <cstdint>
#include <cstdlib>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/task.hpp"
#include "tests/support/simulated.hpp"
#include "tests/support/status_matchers.hpp"
#include "troupe/testing_gtest.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::exploration_options;
using testing::explore;
using testing::passes;
using testing::replay;
using testing::stage;

// What the reader saw, which comes too early in some orders.
int seen_by_the_reader(stage& play) {
  const auto ctx = make_context(play);
  auto writer = ctx.create_stream().value();
  auto reader = ctx.create_stream().value();
  int cell = 0;
  int seen = -1;
  writer.launch("write", [&cell] { cell = 42; }).or_throw();
  reader.launch("read", [&] { seen = cell; }).or_throw();
  ctx.synchronize().or_throw();
  return seen;
}

void observes_only_if_right(stage& play) {
  const auto seen = seen_by_the_reader(play);
  if (seen == 42) play.observe("seen", std::span<const int>(&seen, 1));
}

// The n-th task may fail by a plan; fails when the second did.
void three_tasks(stage& play) {
  const auto ctx = make_context(play);
  auto s = ctx.create_stream().value();
  for (const auto* name : {"one", "two", "three"}) {
    s.launch(std::string_view(name), [] {}).or_throw();
    if (!s.synchronize().ok() && std::string(name) == "two") throw std::runtime_error("two failed");
  }
}

fault_entry failing(const std::string& operation) {
  fault_entry made;
  made.name = operation + " fails";
  made.pick.point = fault_point::execute;
  made.pick.operation = operation;
  made.action = fault_action::fail_at_execution();
  return made;
}

exploration_options with(std::vector<fault_entry> entries) {
  exploration_options made;
  made.runs = 20;
  made.base.faults.emplace().entries = std::move(entries);
  return made;
}

// -- the plainest run ---------------------------------------------------------

TEST(verdicts, what_is_missing_is_seen_in_a_run_by_itself) {
  const auto found = explore({}, &observes_only_if_right);
  ASSERT_TRUE(found.failure);
  const auto& failure = *found.failure;
  EXPECT_THAT(failure.what, HasSubstr("observed 'seen': 0 times, and 1 in the plainest run"));
  EXPECT_EQ(replay({}, failure.seed, failure.script, &observes_only_if_right), failure.what);

  exploration_options alone;
  alone.first_seed = failure.seed;
  alone.runs = 1;
  EXPECT_TRUE(explore(alone, &observes_only_if_right).failure);
  alone.script = failure.script;
  EXPECT_TRUE(explore(alone, &observes_only_if_right).failure);
}

TEST(verdicts, every_seed_has_the_verdict_that_it_has_alone) {
  exploration_options one;
  one.runs = 1;
  std::uint64_t first = 0;
  for (one.first_seed = 1; first == 0 && one.first_seed < 1'000; ++one.first_seed) {
    if (explore(one, &observes_only_if_right).failure) first = one.first_seed;
  }
  const auto all = explore({}, &observes_only_if_right);
  ASSERT_TRUE(all.failure);
  EXPECT_EQ(all.failure->seed, first);
}

TEST(verdicts, a_plainest_run_that_fails_is_told_where_something_is_observed) {
  const auto fails_when_plain = [](stage& play) {
    const auto seen = seen_by_the_reader(play);
    play.observe("nothing", std::span<const int>());
    if (seen == 42) throw std::runtime_error("the writer came first");
  };
  exploration_options options;
  for (options.first_seed = 1;; ++options.first_seed) { // a seed under which it passes by itself
    auto single = options.base;
    single.seed = options.first_seed;
    single.choice = testing::order::explore;
    single.ends = testing::work_end::any_order;
    if (!testing::try_simulate(single, fails_when_plain).thrown) break;
  }
  options.swarm = false;
  options.base.ends = testing::work_end::any_order;
  options.runs = 1;
  options.shrink_replays_max = 0; // the smallest run would be the plainest
  const auto found = explore(options, fails_when_plain);
  ASSERT_TRUE(found.failure);
  EXPECT_THAT(found.failure->what, HasSubstr("the plainest run fails: the writer came first"));
}

// -- assertions ---------------------------------------------------------------

TEST(verdicts, an_assertion_in_a_body_makes_its_run_fail) {
  const auto asserts = [](stage& play) { EXPECT_EQ(seen_by_the_reader(play), 42) << "too early"; };
  const auto found = explore({}, asserts);
  ASSERT_TRUE(found.failure);
  EXPECT_THAT(found.failure->what, HasSubstr("verdicts_test.cpp:"));
  EXPECT_THAT(found.failure->what, HasSubstr("too early"));
  EXPECT_FALSE(passes(found));
  EXPECT_GT(found.failure->replays, 0U);
  EXPECT_THAT(replay({}, found.failure->seed, found.failure->script, asserts),
              HasSubstr("too early"));
}

TEST(verdicts, an_assertion_in_a_client_or_a_verdict_counts_too) {
  exploration_options options;
  options.runs = 2;
  EXPECT_TRUE(explore(options, [](stage& play) {
                play.start_client("other", [] { ADD_FAILURE() << "there"; }).join();
              }).failure);
  EXPECT_TRUE(explore(options, [](stage&) {}, [](const testing::simulation_report&) {
                ADD_FAILURE() << "after it";
                return std::string();
              }).failure);
}

// -- plans and scripts that do nothing ----------------------------------------

TEST(verdicts, a_fault_that_never_fired_is_named_and_does_not_pass) {
  const auto found = explore(with({failing("one"), failing("no such kernel")}), &three_tasks);
  ASSERT_FALSE(found.failure);
  EXPECT_EQ(found.never_fired(), std::vector<std::string>{"no such kernel fails"});
  EXPECT_THAT(found.describe(), HasSubstr("fault 'one fails' fired 20 times at 20 matches"));
  EXPECT_THAT(found.describe(), HasSubstr("fault 'no such kernel fails' never fired, 0 matches"));
  EXPECT_FALSE(passes(found));
  EXPECT_TRUE(passes(explore(with({failing("one")}), &three_tasks)));
}

TEST(verdicts, a_script_that_fits_nothing_does_not_pass) {
  const std::string line = "no such channel #1 +4";
  EXPECT_THAT(replay({}, 1, line, &three_tasks),
              HasSubstr("nothing came that fits 'no such channel #1 +4'"));
  EXPECT_THAT(replay({}, 1, "client main #4000000 +2", &three_tasks), HasSubstr("#4000000 +2"));
  EXPECT_EQ(replay({}, 1, "client main #1 +2", &three_tasks), "");
  EXPECT_THAT(replay({}, 1, "stream 3>compute of device 0 #9 never_complete", &three_tasks),
              HasSubstr("#9 never_complete"));
  exploration_options options;
  options.script = line;
  const auto found = explore(options, &three_tasks);
  ASSERT_TRUE(found.failure);
  EXPECT_THAT(found.failure->what, HasSubstr("no such channel"));
}

TEST(verdicts, costs_of_kernels_that_never_ran_are_told_and_negative_ones_refused) {
  testing::simulation_options options;
  options.costs.kernels = {{"one", 5}, {"typo", 5}};
  EXPECT_EQ(testing::try_simulate(options, &three_tasks).unused_costs,
            std::vector<std::string>{"typo"});
  options.costs.kernels["one"] = -1;
  try {
    (void)testing::try_simulate(options, &three_tasks);
    ADD_FAILURE() << "not refused";
  } catch (const error& refused) {
    EXPECT_THAT(refused.what(), HasSubstr("costs: kernel 'one' is -1 ns; it is 0 or more"));
  }
}

TEST(verdicts, bad_options_are_thrown_before_anything_runs) {
  bool ran = false;
  const auto body = [&ran](stage&) { ran = true; };
  exploration_options bad;
  bad.base.runtime.queue_depth = 0;
  EXPECT_THROW((void)explore(bad, body), error);
  EXPECT_THROW((void)replay(bad, 1, "", body), error);
  EXPECT_THROW((void)testing::sweep(bad.base, body), error);
  EXPECT_THROW((void)testing::try_simulate(bad.base, body), error);
  exploration_options none;
  none.runs = 0;
  EXPECT_THROW((void)explore(none, body), error);
  EXPECT_FALSE(ran);
}

// -- faults in scripts --------------------------------------------------------

TEST(verdicts, K5_a_plan_shrinks_to_the_faults_that_it_takes) {
  auto all = with({failing("one"), failing("two"), failing("three")});
  auto& often = all.base.faults->entries.emplace_back();
  often.pick.point = fault_point::complete;
  often.pick.chance = 0.5;
  often.pick.times = 0;
  often.action = fault_action::delay(1);
  const auto found = explore(all, &three_tasks);
  ASSERT_TRUE(found.failure);
  const auto& failure = *found.failure;
  EXPECT_EQ(failure.entries, 1U) << failure.script;
  EXPECT_THAT(failure.script, HasSubstr("compute of device 0 #2 fail_at_execution"));
  // The line is enough: without the plan, and as well beside it.
  EXPECT_EQ(replay({}, failure.seed, failure.script, &three_tasks), "two failed");
  EXPECT_EQ(replay(all, failure.seed, failure.script, &three_tasks), "two failed");
}

TEST(verdicts, a_plan_that_has_no_part_in_it_is_left_out) {
  const auto found = explore(with({failing("one"), failing("three")}), [](stage& play) {
    three_tasks(play);
    throw std::runtime_error("always");
  });
  ASSERT_TRUE(found.failure);
  EXPECT_EQ(found.failure->script, "faults #1 none");
  EXPECT_EQ(found.failure->entries, 0U);
  EXPECT_EQ(replay(with({failing("two")}), 1, found.failure->script, &three_tasks), "");
}

// -- what cannot be shown again -----------------------------------------------

TEST(verdicts, a_failure_that_does_not_come_again_is_said_to) {
  int turns = 0;
  const auto once = [&turns](stage& play) {
    three_tasks(play);
    if (++turns == 3) throw std::runtime_error("the third time");
  };
  const auto found = explore({}, once);
  ASSERT_TRUE(found.failure);
  EXPECT_FALSE(found.failure->reproduced);
  EXPECT_EQ(found.failure->what, "the third time");
  EXPECT_THAT(found.describe(), HasSubstr("it did not fail again by its own schedule"));
  EXPECT_THAT(found.describe(), Not(HasSubstr("to see it again")));
  EXPECT_THAT(passes(found).message(), Not(HasSubstr("--troupe_script")));
}

TEST(verdicts, two_runs_of_a_seed_are_compared_in_all_that_is_on_record) {
  int turns = 0;
  const auto every_other_fails = [&turns](stage& play) {
    const auto ctx = make_context(play);
    auto s = ctx.create_stream().value();
    const bool fails = turns++ % 2 == 0;
    s.launch("flaky", [fails] { if (fails) throw std::runtime_error("no"); }).or_throw();
    (void)s.synchronize();
  };
  exploration_options options;
  options.runs = 4;
  EXPECT_FALSE(explore(options, every_other_fails).failure);
  options.twice = true;
  const auto found = explore(options, every_other_fails);
  ASSERT_TRUE(found.failure);
  EXPECT_FALSE(found.failure->reproduced);
  EXPECT_THAT(found.failure->what, HasSubstr("two runs of one seed differ: in one stream"));
  EXPECT_THAT(found.failure->what, HasSubstr("failed with 507015"));
}

// -- what the swarm draws -----------------------------------------------------

TEST(verdicts, the_swarm_draws_engines_and_chunks) {
  std::set<std::uint64_t> chunks;
  std::set<unsigned> engines;
  exploration_options options;
  options.runs = 60;
  EXPECT_FALSE(explore(options, [&](stage& play) {
                 chunks.insert(play.runtime().options().copy_chunk_kib);
                 engines.insert(play.runtime().options().compute_threads);
               }).failure);
  EXPECT_EQ(chunks, (std::set<std::uint64_t>{64, 256, 1024}));
  EXPECT_TRUE(engines.count(1) == 1 && engines.count(2) == 1 && engines.count(3) == 1);
}

// -- sweeps -------------------------------------------------------------------

TEST(verdicts, a_sweep_keeps_what_goes_wrong_without_a_fault) {
  const auto result = testing::sweep({}, [](stage&) { throw std::runtime_error("always"); });
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings.front().fault, "no fault");
  EXPECT_EQ(result.findings.front().what, "always");
  EXPECT_EQ(result.faults, 0U);
  EXPECT_FALSE(passes(result));
}

TEST(verdicts, a_sweep_keeps_what_goes_wrong_in_runs_that_nothing_struck) {
  int turns = 0;
  const auto result = testing::sweep(
      {}, [&turns](stage&) { if (++turns > 2) throw std::runtime_error("later"); }, nullptr,
      {{fault_point::timer, fault_action::drop()}});
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings.front().victim, "struck nothing");
}

TEST(verdicts, a_sweep_refuses_classes_that_make_no_sense) {
  const auto said = [](const std::vector<testing::fault_class>& classes, std::uint64_t stride) {
    try {
      (void)testing::sweep({}, &three_tasks, nullptr, classes, stride);
    } catch (const error& refused) {
      return std::string(refused.what());
    }
    return std::string();
  };
  EXPECT_THAT(said({{fault_point::execute, fault_action::drop()}}, 1),
              HasSubstr("sweep: class 1: fault plan: entry 1"));
  EXPECT_THAT(said({}, 1), HasSubstr("there is no class"));
  EXPECT_THAT(said(testing::all_fault_classes(), 0), HasSubstr("stride is 0"));
  auto planned = with({failing("one")}).base;
  EXPECT_THROW((void)testing::sweep(planned, &three_tasks), error);
}

// -- further runtimes, coverage, oracles --------------------------------------

TEST(verdicts, faults_of_further_runtimes_are_told) {
  const auto report = testing::try_simulate({}, [](stage& play) {
    fault_plan plan;
    plan.entries.push_back(failing("k"));
    plan.entries.push_back(failing("no such kernel"));
    auto more = play.make_runtime(runtime_options{}, plan);
    auto ctx = more.device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    s.launch("k", [] {}).or_throw();
    EXPECT_THAT(s.synchronize(), HasCode(code::kernel_exception));
  });
  EXPECT_EQ(report.faults.fired, 0U);
  ASSERT_EQ(report.further_faults.size(), 1U);
  const auto& further = report.further_faults.front();
  ASSERT_EQ(further.activations.size(), 1U);
  EXPECT_EQ(further.activations.front().entry_name, "k fails");
  EXPECT_EQ(further.entries.at(1).fired, 0U);
}

TEST(verdicts, a_fault_of_a_further_runtime_may_leave_observations_out) {
  exploration_options options;
  options.runs = 3;
  int turns = 0;
  const auto found = explore(options, [&turns](stage& play) {
    fault_plan plan;
    if (turns++ != 0) plan.entries.push_back(failing("k")); // not in the plainest run
    auto more = play.make_runtime(runtime_options{}, plan);
    auto ctx = more.device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    s.launch("k", [] {}).or_throw();
    const int value = 1;
    if (s.synchronize().ok()) play.observe("done", std::span<const int>(&value, 1));
  });
  EXPECT_FALSE(found.failure) << found.describe();
}

TEST(verdicts, coverage_that_was_not_measured_says_so) {
  exploration_options options;
  options.runs = 2;
  const auto seen = explore(options, &three_tasks).seen.describe();
  EXPECT_THAT(seen, HasSubstr("was not measured"));
  EXPECT_THAT(seen, Not(HasSubstr("not seen:")));
}

TEST(verdicts, waits_for_signals_are_judged) {
  EXPECT_THAT(testing::simulate({}, [](stage& play) {
                const auto ctx = make_context(play);
                auto s = ctx.create_stream().value();
                const auto go = play.runtime().create_signal();
                s.wait(go).or_throw();
                s.launch("work", [] {}).or_throw();
                go.raise();
                s.synchronize().or_throw();
                s.wait(play.runtime().create_signal()).or_throw();
                s.launch("never", [] {}).or_throw();
                s.abort().or_throw();
              }).violations, IsEmpty());
}

TEST(verdicts, names_that_were_lost_are_told_where_they_matter) {
  EXPECT_EXIT(
      {
        for (int i = 0; i < 65'536; ++i) (void)intern_name("used up " + std::to_string(i));
        testing::simulation_options options;
        const auto body = [](stage& play) {
          const auto ctx = make_context(play);
          auto s = ctx.create_stream().value();
          s.launch(std::string_view("costly by name"), [] {}).or_throw();
          s.synchronize().or_throw();
        };
        if (!testing::try_simulate(options, body).violations.empty()) std::exit(1);
        options.costs.kernels["costly by name"] = 1'000'000;
        const auto seen = testing::try_simulate(options, body).violations;
        std::exit(seen.size() == 1 && seen.front().oracle == "names" ? 0 : 2);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(verdicts, an_oracle_that_throws_is_named) {
  testing::simulation_options options;
  options.oracles.push_back({"shaky", [](const run_record&) -> std::string {
                               throw std::runtime_error("I fell over");
                             }});
  const auto report = testing::try_simulate(options, &three_tasks);
  ASSERT_EQ(report.violations.size(), 1U);
  EXPECT_EQ(describe(report.violations.front()),
            "oracle 'shaky': its check threw: I fell over");
}

} // namespace
} // namespace troupe
