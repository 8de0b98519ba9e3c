#include "core/faults/fault_report.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/faults/fault_fields.hpp"

namespace troupe {
namespace {

using json = nlohmann::ordered_json;

// Names are chosen by others and may hold a line break; a line stays a line.
std::string line_of(std::string text) {
  std::ranges::replace_if(
      text, [](char each) { return static_cast<unsigned char>(each) < 0x20 || each == 0x7F; }, ' ');
  return text + "\n";
}

std::string count_of(std::uint64_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

bool never_fired(const fault_report::entry_line& line) { return line.fired == 0; }

json as_json(const fault_victim& victim) {
  json object{{"point", to_string(victim.point)}};
  const auto add_number = [&object](const char* key, const std::optional<std::uint64_t>& value) {
    if (value) object[key] = *value;
  };
  const auto add_text = [&object](const char* key, const std::string& value) {
    if (!value.empty()) object[key] = value;
  };
  add_number("device", victim.device);
  add_number("context", victim.context);
  add_number("stream", victim.stream);
  add_text("engine", victim.engine);
  add_text("message", victim.message);
  add_text("operation", victim.operation);
  add_text("channel", victim.channel);
  object["ordinal"] = victim.ordinal;
  object["now_ns"] = victim.now_ns;
  object["bytes"] = victim.bytes;
  return object;
}

json as_json(const fault_activation& activation) {
  json object{{"number", activation.number},
              {"entry", activation.entry + 1},
              {"name", activation.entry_name},
              {"kind", to_string(activation.action.kind)},
              {"code", static_cast<std::int32_t>(activation.action.outcome())},
              {"victim", as_json(activation.victim)}};
  if (activation.action.adversarial) object["adversarial"] = true;
  return object;
}

json as_json(const fault_report::entry_line& line, std::size_t number) {
  return {{"entry", number},
          {"name", line.name},
          {"point", to_string(line.point)},
          {"action", write_part(line.action)},
          {"matched", line.matched},
          {"fired", line.fired}};
}

json as_json(const fault_report& report) {
  json lines = json::array();
  json idle = json::array();
  for (std::size_t i = 0; i < report.entries.size(); ++i) {
    lines.push_back(as_json(report.entries[i], i + 1));
    if (never_fired(report.entries[i])) idle.push_back(report.entries[i].name);
  }
  json struck = json::array();
  for (const auto& each : report.activations) struck.push_back(as_json(each));
  json object{{"plan", report.plan},
              {"seed", report.seed},
              {"fired", report.fired},
              {"not_kept", report.not_kept()}};
  object["entries"] = std::move(lines);
  object["never_fired"] = std::move(idle);
  object["activations"] = std::move(struck);
  return object;
}

} // namespace

std::string describe(const fault_activation& activation) {
  return "activation " + std::to_string(activation.number) + ": '" + activation.entry_name + "', " +
         describe(activation.action) + ", hit " + describe(activation.victim);
}

std::string fault_report::to_json() const {
  return as_json(*this).dump(2, ' ', false, json::error_handler_t::replace);
}

std::string fault_report::to_json_line() const {
  return as_json(*this).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string fault_report::to_text() const {
  const auto idle = static_cast<std::uint64_t>(std::ranges::count_if(entries, never_fired));
  std::string text = line_of("fault plan '" + plan + "', seed " + std::to_string(seed) + ": " +
                             count_of(fired, "activation", "activations") + " of " +
                             count_of(entries.size() - idle, "entry", "entries") + ", " +
                             count_of(idle, "entry", "entries") + " never fired");
  for (const auto& line : entries) {
    text += line_of("entry '" + line.name + "', " + describe(line.action) + " at " +
                    std::string(to_string(line.point)) + ": fired " +
                    count_of(line.fired, "time", "times") + " at " +
                    count_of(line.matched, "match", "matches"));
  }
  for (const auto& each : activations) text += line_of(describe(each));
  if (not_kept() > 0)
    text += line_of(count_of(not_kept(), "later activation was", "later activations were") +
                    " counted only");
  for (const auto& line : entries) {
    if (never_fired(line))
      text += line_of("never fired: '" + line.name + "', " +
                      (line.matched == 0 ? std::string("nothing matched")
                                         : count_of(line.matched, "match", "matches")));
  }
  return text;
}

} // namespace troupe
