#include "core/exploration/script_faults.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/faults/fault_channel.hpp"
#include "core/faults/fault_fields.hpp"

namespace troupe {
namespace {

using json = nlohmann::json;

std::string word_of(const fault_action& action) {
  std::string word(to_string(action.kind));
  const auto parts = write_part(action);
  for (const auto& [key, value] : parts.items()) {
    if (key != "kind") word += "=" + key + "=" + value.dump();
  }
  return word;
}

// An unfinished pair leaves a name without a value, which is refused as such.
result<fault_action> action_of(const std::string& word) {
  json object;
  std::string key = "kind";
  std::size_t at = 0;
  for (bool is_value = true; at <= word.size(); is_value = !is_value) {
    const auto end = std::min(word.find('=', at), word.size());
    const auto part = word.substr(at, end - at);
    at = end + 1;
    if (!is_value) {
      key = part;
      object[key] = nullptr;
      continue;
    }
    auto value = key == "kind" ? json(part) : json::parse(part, nullptr, false);
    object[key] = value.is_discarded() ? json(part) : std::move(value);
  }
  fault_action action;
  if (auto read = read_part(object, action); !read.ok()) return read;
  if (auto read = check_mentioned(object, action.kind); !read.ok()) return read;
  return action;
}

result<fault_entry> entry_of(const schedule_entry& from) {
  fault_entry made;
  made.name = to_string(schedule_script{{from}});
  const auto parsed = parse_fault_channel(from.channel);
  if (!parsed) {
    return make_status(code::invalid_parameter,
                       "'" + from.channel + "' is no channel of faults; they are " +
                           fault_channel_forms());
  }
  auto action = action_of(from.fault);
  if (!action) return action.error();
  made.pick.point = parsed->point;
  made.pick.channel = from.channel;
  made.pick.ordinal = from.ordinal;
  made.action = action.value();
  return made;
}

} // namespace

std::optional<std::vector<schedule_entry>> script_of(const fault_report& faults) {
  if (faults.not_kept() != 0 || faults.fired > fault_plan::entries_max) return {};
  std::vector<schedule_entry> made;
  for (const auto& each : faults.activations) {
    made.push_back(schedule_entry::faulty(each.victim.channel, each.victim.ordinal,
                                          word_of(each.action)));
  }
  return made;
}

schedule_entry no_faults() { return schedule_entry::faulty("faults", 1, "none"); }

result<std::optional<fault_plan>> plan_of(const schedule_script& script) {
  std::optional<fault_plan> plan;
  for (const auto& each : script.entries) {
    if (each.is_delay()) continue;
    if (!plan) plan.emplace().name = "script";
    if (each == no_faults()) continue;
    auto made = entry_of(each);
    if (!made) {
      return make_status(made.error().code(), "schedule script, '" +
                                                  to_string(schedule_script{{each}}) +
                                                  "': " + made.error().message());
    }
    plan->entries.push_back(std::move(made).value());
  }
  if (plan) {
    if (auto checked = plan->validate(); !checked.ok()) {
      return make_status(checked.code(), "schedule script: " + checked.message());
    }
  }
  return plan;
}

} // namespace troupe
