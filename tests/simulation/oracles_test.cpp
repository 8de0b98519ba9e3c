#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "tests/support/status_matchers.hpp"
#include "troupe/exploring.hpp"
#include "troupe/testing.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

using testing::simulate;
using testing::simulation_options;
using testing::stage;
using testing::try_simulate;
using namespace std::chrono_literals;

void add_one(std::span<int> all) {
  for (auto& each : all) ++each;
}

// Copies in, works, waits across streams, copies out.
void small_program(stage& play) {
  auto ctx = play.runtime().device(0).value().create_context().value();
  auto a = ctx.create_stream().value();
  auto b = ctx.create_stream().value();
  auto ready = ctx.create_event().value();
  auto data = ctx.allocate<int>(16).value();
  const std::vector<int> in(16, 1);
  std::vector<int> out(16, 0);
  a.copy(data, std::span(in)).or_throw();
  a.launch("add", add_one, data).or_throw();
  a.record(ready).or_throw();
  b.wait(ready).or_throw();
  b.copy(std::span(out), data).or_throw();
  ctx.synchronize().or_throw();
  play.observe("sum", std::span<const int>(out));
}

// "stream 1: submitted 1, begun 1, ..." of one stream of the record, the second if `which` is 1.
std::vector<std::string> events_of(const run_record& record, std::size_t which) {
  std::vector<std::uint64_t> streams;
  std::vector<std::string> lines;
  for (const auto& each : record.events) {
    if (std::find(streams.begin(), streams.end(), each.stream) == streams.end()) {
      streams.push_back(each.stream);
    }
    if (streams.size() > which && streams[which] == each.stream) {
      lines.push_back(std::string(to_string(each.what)) + " " + std::to_string(each.number));
    }
  }
  return lines;
}

TEST(oracles, the_record_holds_what_happened_to_each_command) {
  const auto report = try_simulate({}, &small_program);
  EXPECT_TRUE(report.violations.empty());
  EXPECT_EQ(events_of(report.record, 0),
            (std::vector<std::string>{"submitted 1", "begun 1", "worked 1", "published 1", "told 1",
                                      "submitted 2", "submitted 3", "begun 2", "worked 2",
                                      "published 2", "published 3"}))
      << ::testing::PrintToString(events_of(report.record, 0));
  EXPECT_FALSE(report.record.answers.empty());
  EXPECT_TRUE(std::all_of(report.record.answers.begin(), report.record.answers.end(),
                          [](auto each) { return each == 1; }));
  ASSERT_FALSE(report.record.accounts.empty());
  EXPECT_EQ(report.record.observed.at("sum").size(), 1U);
}

TEST(oracles, a_rule_of_the_user_is_asked_and_its_breach_told) {
  simulation_options options;
  options.oracles.push_back({"few commands", [](const run_record& record) {
                               const auto count = std::count_if(
                                   record.events.begin(), record.events.end(),
                                   [](const auto& e) { return e.what == happening::submitted; });
                               return count > 2 ? std::to_string(count) + " commands" : "";
                             }});
  try {
    (void)simulate(options, &small_program);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const testing::oracle_violated& broken) {
    EXPECT_STREQ(broken.what(), "oracle 'few commands': 5 commands");
  }
  testing::exploration_options exploring;
  exploring.base = options;
  exploring.runs = 3;
  const auto found = explore(exploring, &small_program);
  ASSERT_TRUE(found.failure);
  EXPECT_EQ(found.failure->what, "oracle 'few commands': 5 commands");
  EXPECT_FALSE(found.failure->chain.empty());
  EXPECT_FALSE(testing::sweep(options, &small_program, nullptr,
                              {{fault_point::submit, fault_action::drop()}}, 3)
                   .findings.empty());
}

TEST(oracles, unknown_and_doubled_names_are_refused) {
  simulation_options options;
  options.oracles_off = {"fifos"};
  EXPECT_THROW((void)try_simulate(options, &small_program), error);
  options.oracles_off = {"fifo"};
  options.oracles.push_back({"fifo", [](const run_record&) { return std::string(); }});
  EXPECT_NO_THROW((void)try_simulate(options, &small_program)); // in its place
}

// A body in which the result depends on the order, and that does not notice.
void racing_program(stage& play) {
  auto ctx = play.runtime().device(0).value().create_context().value();
  auto a = ctx.create_stream().value();
  auto b = ctx.create_stream().value();
  int cell = 1;
  a.launch("add", [&cell] { cell += 10; }).or_throw();
  b.launch("double", [&cell] { cell *= 2; }).or_throw();
  ctx.synchronize().or_throw();
  play.observe("cell", std::span<const int>(&cell, 1));
}

TEST(oracles, what_is_observed_is_compared_with_the_plainest_run) {
  testing::exploration_options options;
  options.runs = 200;
  const auto found = explore(options, &racing_program);
  ASSERT_TRUE(found.failure) << found.describe();
  EXPECT_EQ(found.failure->what,
            "observed 'cell', place 1: byte 0 is 12, and 22 in the plainest run");
  EXPECT_EQ(testing::replay(options, found.failure->seed, found.failure->script, &racing_program),
            found.failure->what);
  EXPECT_FALSE(explore(options, &small_program).failure);
}

// Without a failure that the body sees, a fault must not change what is observed.
TEST(oracles, what_is_observed_after_a_fault_is_right_or_missing) {
  simulation_options options;
  const auto careful = [](stage& play) {
    try {
      small_program(play);
    } catch (const error&) {
    }
  };
  auto classes = testing::all_fault_classes();
  std::erase_if(classes, [](const auto& each) { // for which this body would wait
    return each.action.kind == fault_kind::never_complete;
  });
  const auto result = testing::sweep(options, careful, nullptr, classes, 5);
  EXPECT_TRUE(result.findings.empty()) << result.describe();
  EXPECT_GT(result.faults, 20U);
}

TEST(oracles, what_is_observed_more_or_less_often_differs_and_flipped_bits_are_excused) {
  int turns = 0;
  const auto more_each_time = [&turns](stage& play) {
    const int value = 1;
    for (int i = 0; i <= turns; ++i) play.observe("turn", std::span<const int>(&value, 1));
    ++turns;
  };
  testing::exploration_options options;
  options.runs = 1;
  const auto found = explore(options, more_each_time);
  ASSERT_TRUE(found.failure);
  EXPECT_NE(found.failure->what.find("observed 'turn': "), std::string::npos)
      << found.failure->what;

  simulation_options corrupted;
  const auto flips = [](bool told) {
    return testing::fault_class{fault_point::execute, fault_action::corrupt(1, told)};
  };
  const auto careless = [](stage& play) {
    try {
      small_program(play);
    } catch (const error&) {
      const int wrong = 7;
      play.observe("sum", std::span<const int>(&wrong, 1));
    }
  };
  EXPECT_TRUE(testing::sweep(corrupted, careless, nullptr, {flips(false)}).findings.empty());
  EXPECT_FALSE(testing::sweep(corrupted, careless, nullptr, {flips(true)}).findings.empty());
}

TEST(oracles, after_the_faults_each_device_works_again) {
  simulation_options options;
  auto& entry = options.faults.emplace().entries.emplace_back();
  entry.pick.point = fault_point::execute;
  entry.pick.times = 0;
  entry.action = fault_action::never_complete();
  std::uint64_t steps = 0;
  const auto report = try_simulate(options, [&steps](stage& play) {
    auto ctx = play.runtime().device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    s.launch("work", [] {}).or_throw();
    EXPECT_THAT(s.synchronize(20ms), HasCode(code::stream_sync_timeout));
    steps = 1;
  });
  EXPECT_EQ(report.record.liveness, "");
  EXPECT_TRUE(report.violations.empty());
  EXPECT_EQ(report.faults.fired, 1U); // nothing was struck after the body
  EXPECT_LT(report.elapsed, 2s);      // which is all that counts
}

// Found by the search: when the runtime ends, an engine works on a task whose context is gone, and
// the word to its stream is late.
TEST(oracles, work_of_a_destroyed_context_ends_with_the_runtime) {
  simulation_options options;
  options.costs.kernels["long"] = 10'000'000'000;
  auto& entry = options.faults.emplace().entries.emplace_back();
  entry.pick.message = "close_stream";
  entry.pick.times = 0;
  entry.action = fault_action::delay(5);
  const auto report = try_simulate(options, [](stage& play) {
    {
      auto ctx = play.runtime().device(0).value().create_context().value();
      ctx.create_stream().value().launch("long", [] {}).or_throw();
      play.pass_time(1ms);
    }
    play.pass_time(1ms); // the context has ended
    EXPECT_THAT(play.runtime().shutdown(), IsOk());
  });
  EXPECT_NE(report.faults.fired, 0U);
  EXPECT_TRUE(report.violations.empty()) << describe(report.violations.front());
}

} // namespace
} // namespace troupe
