#include "api/src/run_options.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "core/exploration/script_faults.hpp"

namespace troupe::testing {
namespace {

constexpr std::string_view unnamed = "(unnamed)"; // what `intern_name` says when it is full

std::optional<fault_plan> faults_of_script(const simulation_options& options) {
  if (!options.replay_script) return {};
  const auto script = parse_schedule_script(*options.replay_script);
  if (!script) throw error(script.error());
  auto plan = plan_of(script.value());
  if (!plan) throw error(plan.error());
  if (plan.value() && options.faults) plan.value()->seed = options.faults->seed;
  return std::move(plan).value();
}

} // namespace

simulation_options checked_options(const simulation_options& asked) {
  asked.runtime.validate().or_throw();
  asked.costs.validate().or_throw();
  if (asked.faults) asked.faults->validate().or_throw();
  if (auto rules = select_oracles(asked.oracles_off, asked.oracles); !rules) {
    throw error(rules.error());
  }
  auto made = asked;
  if (auto faults = faults_of_script(asked)) made.faults = std::move(faults);
  return made;
}

std::vector<std::string> unmet_entries(const simulation_options& made,
                                       std::vector<std::string> delays,
                                       const fault_report& faults) {
  if (!faults_of_script(made)) return delays;
  for (const auto& each : faults.entries) {
    if (each.fired == 0) delays.push_back(each.name);
  }
  return delays;
}

std::vector<std::string> unused_costs(const cost_model& costs, const run_record& record) {
  std::set<std::string_view> ran;
  for (const auto& each : record.events) ran.insert(each.name);
  std::vector<std::string> unused;
  for (const auto& [name, ns] : costs.kernels) {
    if (ran.count(name) == 0) unused.push_back(name);
  }
  return unused;
}

std::string lost_names(const simulation_options& made, const run_record& record) {
  bool by_name = !made.costs.kernels.empty();
  if (made.faults) {
    const auto& all = made.faults->entries;
    by_name |= std::any_of(all.begin(), all.end(), [](const fault_entry& each) {
      return !each.pick.operation.empty() && each.pick.point != fault_point::reply;
    });
  }
  const bool lost = std::any_of(record.events.begin(), record.events.end(), [](const auto& each) {
    return std::string_view(each.name) == unnamed;
  });
  if (!by_name || !lost) return {};
  return "the process has used up its names of tasks, so that costs and faults by name do not find "
         "theirs; give tasks names that come again";
}

} // namespace troupe::testing
