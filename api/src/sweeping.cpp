#include <algorithm>
#include <sstream>

#include <gsl/gsl>

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
  Expects(stride > 0);
  sweep_result result;
  trial runs(options, body, verdict);
  for (const auto& each : classes) {
    for (std::uint64_t number = 1;; number += stride) {
      auto made = options;
      made.faults.emplace();
      made.faults->entries.emplace_back();
      auto& entry = made.faults->entries.back();
      entry.name = name_of(each, number);
      entry.pick.point = each.point;
      entry.pick.ordinal = number;
      entry.action = each.action;
      const auto seen = runs.run(made);
      ++result.runs;
      (void)result.seen.end_run(seen.report.order_hash);
      result.seen.add(seen.report.covered);
      const auto& struck = seen.report.faults.activations;
      if (struck.empty()) break;
      ++result.faults;
      if (seen.trouble.empty()) continue;
      result.findings.push_back({entry.name, describe(struck.front().victim), seen.trouble});
    }
  }
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
