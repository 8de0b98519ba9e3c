#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

#include "api/src/trial.hpp"

namespace troupe::testing {
namespace {

// The action of a kind with parameters that are neither trivial nor absurd.
fault_action usual(fault_kind kind) {
  switch (kind) {
    case fault_kind::delay: return fault_action::delay(5);
    case fault_kind::hold_until: return fault_action::hold_until(50);
    case fault_kind::slow: return fault_action::slow(10);
    case fault_kind::corrupt: return fault_action::corrupt(1, true);
    case fault_kind::pause_actor: return fault_action::pause_actor(5);
    case fault_kind::lose_device: return fault_action::lose_device(50);
    default: break;
  }
  fault_action made;
  made.kind = kind;
  return made;
}

std::string name_of(const fault_class& each, std::uint64_t number) {
  return describe(each.action) + " of " + std::string(to_string(each.point)) + " " +
         std::to_string(number);
}

simulation_options struck_by(const simulation_options& options, const fault_class& each,
                             std::uint64_t number) {
  auto made = options;
  made.faults.emplace();
  auto& entry = made.faults->entries.emplace_back();
  entry.name = name_of(each, number);
  entry.pick.point = each.point;
  entry.pick.ordinal = number;
  entry.action = each.action;
  return made;
}

[[noreturn]] void refuse(const std::string& what) {
  throw error(code::invalid_parameter, "sweep: " + what);
}

void check(const simulation_options& options, const std::vector<fault_class>& classes,
           std::uint64_t stride) {
  if (options.faults) refuse("options.faults is set; what strikes is chosen by the classes");
  if (options.replay_script) refuse("options.replay_script is set; a fault changes the order");
  if (stride == 0) refuse("stride is 0; it is 1 or more");
  if (classes.empty()) refuse("there is no class of faults");
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const auto checked = struck_by(options, classes[i], 1).faults->validate();
    if (!checked.ok()) refuse("class " + std::to_string(i + 1) + ": " + checked.message());
  }
}

void count(sweep_result& result, const simulation_report& report) {
  ++result.runs;
  (void)result.seen.end_run(report.order_hash);
  result.seen.add(report.covered);
}

// One class, on one thing after the other.
void sweep_class(const simulation_options& options, const fault_class& each, std::uint64_t stride,
                 trial& runs, sweep_result& result) {
  for (std::uint64_t number = 1;; number += stride) {
    const auto seen = runs.run(struck_by(options, each, number));
    count(result, seen.report);
    const auto& struck = seen.report.faults.activations;
    if (!struck.empty()) ++result.faults;
    if (!seen.trouble.empty()) {
      const auto victim = struck.empty() ? "struck nothing" : describe(struck.front().victim);
      result.findings.push_back({name_of(each, number), victim, seen.trouble});
    }
    if (struck.empty()) return;
  }
}

} // namespace

std::vector<fault_class> all_fault_classes() {
  std::vector<fault_class> all;
  for (std::size_t p = 0; p < fault_point_count; ++p) {
    for (std::size_t k = 0; k < fault_kind_count; ++k) {
      const auto point = static_cast<fault_point>(p);
      const auto kind = static_cast<fault_kind>(k);
      if (rule_of(kind).makes_sense_at(point)) all.push_back({point, usual(kind)});
    }
  }
  return all;
}

sweep_result sweep(const simulation_options& options, const explored_body& body,
                   const verdict_function& verdict, const std::vector<fault_class>& classes,
                   std::uint64_t stride) {
  check(options, classes, stride);
  sweep_result result;
  trial runs(options, body, verdict);
  const auto untouched = runs.run(options);
  if (!untouched.trouble.empty()) {
    result.findings.push_back({"no fault", "struck nothing", untouched.trouble});
    return result;
  }
  for (const auto& each : classes) sweep_class(options, each, stride, runs, result);
  return result;
}

std::string sweep_result::describe() const {
  static constexpr std::size_t lines_max = 20;
  std::ostringstream text;
  text << runs << " runs, " << faults << " faults, " << findings.size() << " findings";
  for (std::size_t i = 0; i < std::min(findings.size(), lines_max); ++i) {
    const auto& each = findings[i];
    text << "\n" << each.fault << " (" << each.victim << "): " << each.what;
  }
  return std::move(text).str();
}

} // namespace troupe::testing
