#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "tests/support/stage.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

// A plan that befalls every runtime made while it is alive, and where its report goes.
class plan_in_force {
public:
  explicit plan_in_force(const std::string& json) {
    const auto stem = ::testing::TempDir() + "troupe_plan_" + std::to_string(::getpid());
    plan_ = stem + ".json";
    report_ = stem + "_report.jsonl";
    std::ofstream(plan_) << json;
    ::setenv("TROUPE_FAULT_PLAN", plan_.c_str(), 1);
    ::setenv("TROUPE_FAULT_REPORT", report_.c_str(), 1);
  }
  ~plan_in_force() {
    ::unsetenv("TROUPE_FAULT_PLAN");
    ::unsetenv("TROUPE_FAULT_REPORT");
    std::remove(plan_.c_str());
    std::remove(report_.c_str());
  }
  plan_in_force(const plan_in_force&) = delete;
  plan_in_force& operator=(const plan_in_force&) = delete;

  [[nodiscard]] std::string report() const {
    std::ostringstream text;
    text << std::ifstream(report_).rdbuf();
    return std::move(text).str();
  }

private:
  std::string plan_;
  std::string report_;
};

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
