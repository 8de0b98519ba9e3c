#include "tests/bench/child.hpp"
#include "tests/bench/json_report.hpp"
#include "tests/bench/limit.hpp"
#include "tests/bench/runner.hpp"
#include "tests/bench/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>

namespace troupe::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::chrono::seconds generous{60};

setup always(double figure) {
  return [figure](const workload&) -> repetition { return [figure] { return figure; }; };
}

setup doing(std::function<double()> work) {
  return [work = std::move(work)](const workload&) -> repetition { return work; };
}

run_options options_for(std::initializer_list<const char*> names, int repeats = 1) {
  run_options options;
  for (const auto* name : names)
    options.rows.push_back(*find_row(name));
  options.repeats = repeats;
  return options;
}

results with_figures(std::initializer_list<std::tuple<const char*, const char*, double>> cells) {
  results found;
  for (const auto& [row_name, contender, figure] : cells)
    found.add(row_name, series{contender, {figure}});
  return found;
}

std::string verdict_on(const results& found, const char* row_name) {
  const auto verdicts = judge(found, {*find_row(row_name)}, "troupe");
  return verdicts.empty() ? "none" : std::string{verdicts.back().text()};
}

TEST(bench_child, tells_the_figure_of_each_turn) {
  child c(doing([n = 0]() mutable { return static_cast<double>(++n); }), {});
  EXPECT_EQ(c.turn(generous).figure, 1);
  EXPECT_EQ(c.turn(generous).figure, 2);
}

TEST(bench_child, tells_why_a_contender_threw) {
  child c(doing([]() -> double { throw std::runtime_error("out of paint"); }), {});
  const auto outcome = c.turn(generous);
  EXPECT_EQ(outcome.outcome, answer::kind::failed);
  EXPECT_EQ(outcome.reason, "out of paint");
}

TEST(bench_child, tells_which_signal_killed_a_contender) {
  child c(doing([]() -> double { std::abort(); }), {});
  EXPECT_THAT(c.turn(generous).reason, HasSubstr("signal 6"));
}

TEST(bench_child, gives_up_on_a_contender_that_hangs) {
  child c(doing([]() -> double {
            for (;;)
              std::this_thread::sleep_for(std::chrono::hours(1));
          }),
          {});
  const auto outcome = c.turn(std::chrono::seconds(1));
  EXPECT_EQ(outcome.outcome, answer::kind::failed);
  EXPECT_EQ(outcome.reason, "no answer within 1 s");
}

TEST(bench_child, stands_still_between_its_turns) {
  using counter = std::atomic<std::uint64_t>;
  void* shared = mmap(nullptr, sizeof(counter), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* ticks = new (shared) counter(0);
  child c(doing([ticks] {
            std::thread([ticks] {
              for (;;)
                ++*ticks;
            }).detach();
            while (*ticks == 0)
              std::this_thread::yield();
            return 1.0;
          }),
          {});
  ASSERT_EQ(c.turn(generous).outcome, answer::kind::figure);
  const auto after_turn = ticks->load();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_GT(after_turn, 0u);
  EXPECT_EQ(ticks->load(), after_turn);
}

TEST(bench_run, lets_the_contenders_take_turns_and_drops_the_warm_up) {
  std::vector<std::string> turns;
  auto options = options_for({"launch_sync"}, 2);
  options.progress = [&](const row&, std::string_view name, int round) {
    turns.push_back(std::string{name} + std::to_string(round));
  };
  const auto found =
    run({{"a", {{"launch_sync", always(1)}}}, {"b", {{"launch_sync", always(2)}}}}, options);
  EXPECT_THAT(turns, ElementsAre("a0", "b0", "a1", "b1", "a2", "b2"));
  ASSERT_NE(found.find("launch_sync", "b"), nullptr);
  EXPECT_THAT(found.find("launch_sync", "b")->figures, ElementsAre(2, 2));
}

TEST(bench_run, leaves_out_a_contender_that_is_not_available_and_still_succeeds) {
  const auto absent = doing([]() -> double { throw unavailable("no platform"); });
  const auto found = run({{"a", {{"launch_sync", absent}, {"idle_sync", absent}}}},
                         options_for({"launch_sync", "idle_sync"}));
  ASSERT_EQ(found.problems().size(), 1u);
  EXPECT_EQ(found.problems().front().reason, "no platform");
  EXPECT_FALSE(found.any_crash());
}

TEST(bench_run, loses_only_the_row_in_which_a_contender_crashes) {
  const auto crash = doing([]() -> double { std::abort(); });
  const auto found = run({{"a", {{"launch_sync", crash}, {"idle_sync", always(3)}}},
                          {"b", {{"launch_sync", always(4)}}}},
                         options_for({"launch_sync", "idle_sync"}));
  EXPECT_TRUE(found.any_crash());
  EXPECT_EQ(found.figure("launch_sync", "a"), std::nullopt);
  EXPECT_EQ(found.figure("launch_sync", "b"), 4);
  EXPECT_EQ(found.figure("idle_sync", "a"), 3);
}

TEST(bench_median, is_the_middle_figure) {
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
}

TEST(bench_limit, compares_with_the_faster_of_both_caf_policies) {
  const auto found = with_figures({{"launch_throughput", "troupe", 40},
                                   {"launch_throughput", "caf_stealing", 400},
                                   {"launch_throughput", "caf_sharing", 50}});
  const auto verdicts = judge(found, {*find_row("launch_throughput")}, "troupe");
  ASSERT_EQ(verdicts.size(), 2u);
  EXPECT_EQ(verdicts[0].measured, 0.8);
  EXPECT_EQ(verdicts[0].text(), "NOT MET");
  EXPECT_EQ(verdicts[1].text(), "not measured");
}

TEST(bench_limit, tells_must_from_goal) {
  auto on = [](double own) {
    return verdict_on(with_figures({{"launch_sync", "troupe", own}, {"launch_sync", "pocl", 1000}}),
                      "launch_sync");
  };
  EXPECT_EQ(on(101), "NOT MET");
  EXPECT_EQ(on(100), "met");
  EXPECT_EQ(on(15), "met, goal too");
}

TEST(bench_limit, asks_copies_for_a_share_of_the_speed_of_memcpy) {
  auto on = [](double own) {
    return verdict_on(
      with_figures({{"copy_h2d_64m", "troupe", own}, {"copy_h2d_64m", "direct", 90}}),
      "copy_h2d_64m");
  };
  EXPECT_EQ(on(101), "NOT MET");
  EXPECT_EQ(on(99), "met");
  EXPECT_EQ(on(91), "met, goal too");
}

TEST(bench_limit, asks_for_at_least_so_many_runs_a_second) {
  auto on = [](double own) {
    return verdict_on(with_figures({{"simulated_small", "troupe", own}}), "simulated_small");
  };
  EXPECT_EQ(on(9'999), "NOT MET");
  EXPECT_EQ(on(10'000), "met");
  EXPECT_EQ(on(50'000), "met, goal too");
}

TEST(bench_limit, names_only_rows_and_contenders_that_exist) {
  for (const auto& l : all_limits()) {
    EXPECT_NE(find_row(l.row), nullptr) << l.row;
    if (l.measure == limit::kind::share_of_row) {
      EXPECT_NE(find_row(l.others.at(0)), nullptr) << l.others.at(0);
    }
  }
}

TEST(bench_table, shows_ratios_and_marks_rows_where_larger_is_better) {
  report r{{*find_row("digits_pipeline"), *find_row("event_record")},
           {"troupe", "pocl"},
           "troupe",
           1,
           false,
           with_figures({{"digits_pipeline", "troupe", 5000}, {"event_record", "troupe", 1500},
                         {"event_record", "pocl", 3000}})};
  EXPECT_EQ(figures_table(r), "row                 troupe     pocl  /pocl\n"
                              "digits_pipeline ^  5000 /s        -      -\n"
                              "event_record       1.50 us  3.00 us   0.50\n");
}

TEST(bench_json, holds_all_figures_with_least_median_and_greatest) {
  results found;
  found.add("copy_h2d_1m", series{"troupe", {3e5, 1e5, 2e5}});
  const auto json =
    to_json({{*find_row("copy_h2d_1m")}, {"troupe"}, "troupe", 3, false, found});
  const auto& cell = json.at("rows").at(0).at("contenders").at("troupe");
  EXPECT_EQ(cell.at("min"), 1e5);
  EXPECT_EQ(cell.at("median"), 2e5);
  EXPECT_EQ(cell.at("max"), 3e5);
  EXPECT_EQ(cell.at("figures").size(), 3u);
  EXPECT_DOUBLE_EQ(cell.at("gb_per_s").get<double>(), (1 << 20) / 2e5);
}

}  // namespace
}  // namespace troupe::bench
