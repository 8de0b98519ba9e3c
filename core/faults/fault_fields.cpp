#include "core/faults/fault_fields.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>

#include <nlohmann/json.hpp>

#include "core/faults/row_values.hpp"

namespace troupe {
namespace {

using namespace fault_rows;

status not_taken(const row<fault_action>& each, const json& value, const fault_kind_rule& rule) {
  const std::string taken = taken_by(rule);
  return make_status(code::invalid_parameter,
                     std::string(each.rule.name) + ": " + show_json(value) +
                         " has no meaning for " + std::string(rule.name) + ", which takes " +
                         (taken.empty() ? "nothing" : taken));
}

// The fields by which a site at `point` can be picked.
std::string carried_at(fault_point point) {
  std::string list;
  for (const auto& each : pick_rows) {
    if (each.always || !contains(each.points, point)) continue;
    list += (list.empty() ? "" : ", ") + std::string(key_of(each.rule));
  }
  return list;
}

} // namespace

template <class Part>
status read_part(const json& object, Part& part) {
  const auto& rows = rows_of(&part);
  if (!object.is_object()) {
    return make_status(code::invalid_parameter,
                       show_json(object) + " is not a JSON object of fields");
  }
  for (const auto& [key, value] : object.items()) {
    const auto match = std::ranges::find_if(rows, [&key = key](const auto& each) {
      return key_of(each.rule) == key;
    });
    if (match == rows.end()) return unknown_field<Part>(key, value);
    if (auto read = read_row(value, *match, part); !read.ok()) return read;
  }
  for (const auto& each : rows) {
    if (each.always && !object.contains(key_of(each.rule))) {
      return make_status(code::invalid_parameter, std::string(each.rule.name) +
                                                      " is missing; it is " + allowed_for(each));
    }
  }
  return {};
}

template <class Part>
status check_part(const Part& part) {
  for (const auto& each : rows_of(&part)) {
    if (has_default(each, part)) continue;
    if (auto checked = check_row(each, part); !checked.ok()) return checked;
  }
  return {};
}

template <class Part>
nlohmann::ordered_json write_part(const Part& part) {
  auto object = nlohmann::ordered_json::object();
  for (const auto& each : rows_of(&part)) {
    if (std::holds_alternative<std::monostate>(each.member)) continue;
    if (each.always || !has_default(each, part))
      object[std::string(key_of(each.rule))] = write_row(each, part);
  }
  return object;
}

template status read_part(const json&, fault_plan&);
template status read_part(const json&, fault_entry&);
template status read_part(const json&, fault_pick&);
template status read_part(const json&, fault_action&);
template status check_part(const fault_plan&);
template status check_part(const fault_entry&);
template status check_part(const fault_pick&);
template status check_part(const fault_action&);
template nlohmann::ordered_json write_part(const fault_plan&);
template nlohmann::ordered_json write_part(const fault_entry&);
template nlohmann::ordered_json write_part(const fault_pick&);
template nlohmann::ordered_json write_part(const fault_action&);

status check_parameter(const fault_action& action, std::string_view name) {
  return check_row(action_row(name), action);
}

status check_taken(const fault_action& action) {
  const auto& rule = rule_of(action.kind);
  for (const auto& each : action_rows) {
    if (each.always || rule.knows(key_of(each.rule)) || has_default(each, action)) continue;
    return not_taken(each, json(write_row(each, action)), rule);
  }
  return {};
}

status check_mentioned(const json& object, fault_kind kind) {
  const auto& rule = rule_of(kind);
  for (const auto& each : action_rows) {
    const auto key = key_of(each.rule);
    const auto found = object.find(key);
    if (!each.always && found != object.end() && !rule.knows(key))
      return not_taken(each, *found, rule);
    if (key == rule.needs && found == object.end()) {
      return make_status(code::invalid_parameter, std::string(each.rule.name) +
                                                      " is missing; " + std::string(rule.name) +
                                                      " needs " + allowed_for(each));
    }
  }
  return {};
}

status check_carried(const fault_pick& pick) {
  for (const auto& each : pick_rows) {
    if (contains(each.points, pick.point) || has_default(each, pick)) continue;
    return make_status(code::invalid_parameter,
                       std::string(each.rule.name) + ": " + show_json(json(write_row(each, pick))) +
                           " never fits at pick.point \"" + std::string(to_string(pick.point)) +
                           "\"; there, pick by " + carried_at(pick.point));
  }
  return {};
}

} // namespace troupe
