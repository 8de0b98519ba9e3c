#pragma once

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <unistd.h>

namespace troupe {

/// A plan that befalls every live runtime made while it is alive, and where its report goes.
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

} // namespace troupe
