#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/faults/fault_plan.hpp"
#include "core/faults/row_values.hpp"

namespace troupe {
namespace {

using namespace fault_rows;

template <class Part>
void describe_rows(std::string& text, std::string_view place) {
  static const Part defaults{};
  for (const auto& each : rows_of(static_cast<const Part*>(nullptr))) {
    const auto value = write_row(each, defaults);
    const bool absent = value.is_null() || value == "";
    const std::string shown = absent ? "" : show_json(json(value));
    text += "| " + std::string(place) + " | `" + std::string(key_of(each.rule)) + "` | " +
            (each.always ? "required" : shown) + " | " + allowed_for(each) + " | " +
            (std::is_same_v<Part, fault_pick> ? points_in(each.points) : "") + " | " +
            std::string(each.rule.help) + " |\n";
  }
}

} // namespace

std::string describe_fault_fields() {
  std::string text =
      "| in | field | default | allowed | points | meaning |\n|---|---|---|---|---|---|\n";
  describe_rows<fault_plan>(text, "plan");
  describe_rows<fault_entry>(text, "entry");
  describe_rows<fault_pick>(text, "pick");
  describe_rows<fault_action>(text, "action");
  return text;
}

std::string describe_fault_actions() {
  std::string text = "| action | takes | points | code | meaning |\n|---|---|---|---|---|\n";
  for (std::size_t i = 0; i < fault_kind_count; ++i) {
    const auto& rule = rule_of(static_cast<fault_kind>(i));
    text += "| `" + std::string(rule.name) + "` | " + taken_by(rule) + " | " +
            points_in(rule.points) + " | " +
            (rule.usual_code == code::success
                 ? ""
                 : std::to_string(static_cast<std::int32_t>(rule.usual_code))) +
            " | " + std::string(rule.help) + " |\n";
  }
  return text;
}

} // namespace troupe
