// The account of a plan that a process runs under, not simulated: what is written, and when.

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/sanitizers.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

// A plan in the environment, and the file of its accounts.
class fault_accounts : public ::testing::Test {
protected:
  void SetUp() override {
    const auto stem = ::testing::TempDir() + "troupe_account_" + std::to_string(::getpid());
    plan_ = stem + ".json";
    report_ = stem + ".jsonl";
    std::ofstream(plan_) << R"({"entries": [
        {"name": "first fails", "pick": {"point": "execute", "operation": "task"},
         "action": {"kind": "fail_at_execution"}},
        {"name": "idle", "pick": {"point": "execute", "operation": "no such task"},
         "action": {"kind": "never_complete"}}]})";
    ::setenv("TROUPE_FAULT_PLAN", plan_.c_str(), 1);
    ::setenv("TROUPE_FAULT_REPORT", report_.c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("TROUPE_FAULT_PLAN");
    ::unsetenv("TROUPE_FAULT_REPORT");
    std::remove(plan_.c_str());
    std::remove(report_.c_str());
  }

  // Each line of the file; none may be anything but an object.
  [[nodiscard]] std::vector<nlohmann::json> accounts() const {
    std::vector<nlohmann::json> all;
    std::ifstream file(report_);
    for (std::string line; std::getline(file, line);) {
      all.push_back(nlohmann::json::parse(line, nullptr, false));
      EXPECT_TRUE(all.back().is_object()) << line;
    }
    return all;
  }

  static runtime_options small() {
    runtime_options made;
    made.devices.resize(1);
    made.control_workers = 1;
    made.compute_threads = 1;
    return made;
  }

  static void strike(const runtime& rt) {
    auto ctx = rt.device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    s.launch("task", [] {}).or_throw();
    (void)s.synchronize();
  }

private:
  std::string plan_;
  std::string report_;
};

TEST_F(fault_accounts, each_runtime_adds_a_line_of_json) {
  for (int i = 0; i < 3; ++i) {
    const runtime rt(small());
    if (i != 1) strike(rt); // one is never used
  }
  const auto all = accounts();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0]["fired"], 1);
  EXPECT_EQ(all[1]["fired"], 0);
  EXPECT_EQ(all[2]["never_fired"], nlohmann::json::parse(R"(["idle"])"));
}

TEST_F(fault_accounts, a_process_that_ends_by_exit_while_a_runtime_lives_gives_the_account) {
  EXPECT_EXIT(
      {
        const runtime rt(small());
        strike(rt);
        { const runtime ended(small()); }
        std::exit(3);
      },
      ::testing::ExitedWithCode(3), "");
  const auto all = accounts();
  ASSERT_EQ(all.size(), 2U); // each once
  EXPECT_EQ(all[0]["fired"], 0);
  EXPECT_EQ(all[1]["fired"], 1);
}

TEST_F(fault_accounts, a_forked_child_leaves_the_account_to_its_parent) {
  if (sanitized) GTEST_SKIP() << "a forked child cannot stop the parent's threads to look for leaks";
  const runtime rt(small());
  strike(rt);
  EXPECT_EXIT(std::exit(4), ::testing::ExitedWithCode(4), "");
  EXPECT_TRUE(accounts().empty());
}

} // namespace
} // namespace troupe
