#include "core/faults/fault_rows.hpp"

#include <algorithm>

namespace troupe::fault_rows {

std::string listed(gsl::span<const std::string_view> names) {
  std::string list;
  for (const auto name : names) list += (list.empty() ? "" : ", ") + std::string(name);
  return list;
}

const row<fault_action>& action_row(std::string_view name) {
  const auto found = std::ranges::find_if(action_rows, [&](const auto& each) {
    return key_of(each.rule) == name;
  });
  Expects(found != action_rows.end());
  return *found;
}

std::string taken_by(const fault_kind_rule& rule) {
  std::string list;
  for (const auto& each : action_rows) {
    const auto key = key_of(each.rule);
    if (rule.knows(key)) list += (list.empty() ? "" : ", ") + std::string(key);
  }
  return list;
}

} // namespace troupe::fault_rows
