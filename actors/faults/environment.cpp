#include "actors/faults/environment.hpp"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <mutex>
#include <string>

namespace troupe {
namespace {

const char* variable(const char* name) {
  const auto* text = std::getenv(name);
  return text != nullptr && *text != '\0' ? text : nullptr;
}

} // namespace

result<std::optional<fault_plan>> fault_plan_of_environment() {
  const auto* path = variable("TROUPE_FAULT_PLAN");
  if (path == nullptr) return std::optional<fault_plan>();
  auto plan = fault_plan::from_file(path);
  if (plan) return std::optional<fault_plan>(std::move(plan).value());
  return make_status(plan.error().code(), "TROUPE_FAULT_PLAN: " + plan.error().message());
}

void tell_faults(const fault_report& report) {
  static std::mutex guard; // several runtimes may end at once
  const std::lock_guard lock(guard);
  if (const auto* path = variable("TROUPE_FAULT_REPORT")) {
    std::ofstream file(path, std::ios::app);
    if (file << report.to_json_line() << '\n' << std::flush) return;
    std::cerr << "TROUPE_FAULT_REPORT: cannot write to " << path << '\n';
  }
  std::cerr << report.to_text() << std::flush;
}

} // namespace troupe
