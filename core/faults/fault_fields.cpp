#include "core/faults/fault_fields.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/json_fields.hpp"

namespace troupe {
namespace {

using json = nlohmann::json;
using name_list = gsl::span<const std::string_view> (*)() noexcept;

/// A row. Its name is qualified, as messages and the reference show it; the JSON key is what comes
/// after the dot.
template <class Part>
struct row {
  field_rule rule;
  std::variant<std::monostate, std::string Part::*, std::uint64_t Part::*, double Part::*,
               bool Part::*, std::optional<std::uint64_t> Part::*, fault_point Part::*,
               fault_kind Part::*, code Part::*>
      member; ///< none: an object or array that `fault_plan` reads itself
  name_list names = nullptr;       ///< the texts that are allowed, if not every one is
  std::string_view structure = {}; ///< what is allowed, for a row without member
  bool always = false;             ///< must be mentioned, and is written with its default too
};

constexpr double ids_most = 9007199254740991.0; // 2^53 - 1: exact in JSON
constexpr double ms_most = 1e9;                 // 11 days; in ns far from overflow
constexpr double text_most = 255;

constexpr std::array<row<fault_plan>, 3> plan_rows{{
    {{"name", 1, text_most, false, "what reports call the plan"}, &fault_plan::name},
    {{"seed", 0, ids_most, false, "of every chance in the plan"}, &fault_plan::seed},
    {{"entries", 0, 0, false, "the first entry that fits a site strikes"}, {}, nullptr,
     "an array of 0 to 1000 entries"},
}};

constexpr std::array<row<fault_entry>, 3> entry_rows{{
    {{"name", 1, text_most, false, "for reports and error records; empty: \"entry N\", from 1"},
     &fault_entry::name},
    {{"pick", 0, 0, false, "what to strike"}, {}, nullptr, "an object, see pick", true},
    {{"action", 0, 0, false, "what to do to it"}, {}, nullptr, "an object, see action", true},
}};

constexpr std::array<row<fault_pick>, 14> pick_rows{{
    {{"pick.point", 0, 0, false, "what is about to happen"}, &fault_pick::point, fault_point_names,
     {}, true},
    {{"pick.device", 0, ids_most, false, "index of the device"}, &fault_pick::device},
    {{"pick.context", 0, ids_most, false, "id of the context"}, &fault_pick::context},
    {{"pick.stream", 0, ids_most, false, "id of the stream"}, &fault_pick::stream},
    {{"pick.pool", 0, ids_most, false, "id of the memory pool"}, &fault_pick::pool},
    {{"pick.engine", 0, 0, false, "kind of the engine"}, &fault_pick::engine, fault_engine_names},
    {{"pick.message", 1, text_most, false, "kind of the message"}, &fault_pick::message},
    {{"pick.operation", 1, text_most, false, "name of the task, kernel or copy"},
     &fault_pick::operation},
    {{"pick.channel", 1, text_most, false, "name of the channel"}, &fault_pick::channel},
    {{"pick.ordinal", 0, ids_most, false,
      "number on the channel; without a channel, number among the entry's matches; 0: any"},
     &fault_pick::ordinal},
    {{"pick.from_ms", 0, ms_most, false, "not before; since the runtime began"},
     &fault_pick::from_ms},
    {{"pick.until_ms", 0, ms_most, false, "only before; 0: no end"}, &fault_pick::until_ms},
    {{"pick.chance", 0, 1, false, "share of the matches; by seed, entry, channel and ordinal"},
     &fault_pick::chance},
    {{"pick.times", 0, ids_most, false, "how often it may fire; 0: no limit"}, &fault_pick::times},
}};

constexpr std::array<row<fault_action>, 9> action_rows{{
    {{"action.kind", 0, 0, false, "what it does"}, &fault_action::kind, fault_kind_names, {},
     true},
    {{"action.ms", 0, ms_most, true, "how long"}, &fault_action::ms},
    {{"action.until_ms", 0, ms_most, true, "until when, since the runtime began"},
     &fault_action::until_ms},
    {{"action.factor", 1, 1e6, false, "times the usual duration"}, &fault_action::factor},
    {{"action.bytes", 1, 1048576, false, "how many bytes get a flipped bit"},
     &fault_action::bytes},
    {{"action.detected", 0, 0, false, "reported as an ECC error, 507054; else silent"},
     &fault_action::detected},
    {{"action.adversarial", 0, 0, false, "consent to break an order that the runtime promises"},
     &fault_action::adversarial},
    {{"action.give_back_ms", 0, ms_most, false, "the device is back after this; 0: never"},
     &fault_action::give_back_ms},
    {{"action.code", 100000, 599999, false,
      "the failure to report; by default the usual one of the kind"},
     &fault_action::code},
}};

constexpr const auto& rows_of(const fault_plan*) { return plan_rows; }
constexpr const auto& rows_of(const fault_entry*) { return entry_rows; }
constexpr const auto& rows_of(const fault_pick*) { return pick_rows; }
constexpr const auto& rows_of(const fault_action*) { return action_rows; }

std::string_view key_of(const field_rule& rule) {
  const auto dot = rule.name.find('.');
  return dot == rule.name.npos ? rule.name : rule.name.substr(dot + 1);
}

std::string listed(gsl::span<const std::string_view> names) {
  std::string list;
  for (const auto name : names) list += (list.empty() ? "" : ", ") + std::string(name);
  return list;
}

status refuse(const field_rule& rule, const json& value, std::string_view allowed) {
  return make_status(code::invalid_parameter, std::string(rule.name) + ": " + show_json(value) +
                                                  " is not " + std::string(allowed));
}

// -- one member of any type ---------------------------------------------------

template <class Part>
std::string allowed_for(const row<Part>& each) {
  if (each.names != nullptr) return "one of " + listed(each.names());
  return std::visit([&each](auto member) -> std::string {
    using type = decltype(member);
    if constexpr (std::is_same_v<type, std::monostate>)
      return std::string(each.structure);
    else if constexpr (std::is_same_v<type, bool Part::*>)
      return "true or false";
    else if constexpr (std::is_same_v<type, double Part::*>)
      return allowed_values({&each.rule, static_cast<double*>(nullptr)});
    else if constexpr (std::is_same_v<type, std::string Part::*>)
      return allowed_values({&each.rule, static_cast<std::string*>(nullptr)});
    else
      return allowed_values({&each.rule, static_cast<std::uint64_t*>(nullptr)});
  }, each.member);
}

template <class Part>
status read_plain(const json& value, const row<Part>& each, bool& target) {
  if (!value.is_boolean()) return refuse(each.rule, value, allowed_for(each));
  target = value.get<bool>();
  return {};
}

template <class Part, class Target>
  requires std::is_same_v<Target, double> || std::is_same_v<Target, std::uint64_t>
status read_plain(const json& value, const row<Part>& each, Target& target) {
  return read_value(value, {&each.rule, &target});
}

template <class Part>
status read_plain(const json& value, const row<Part>& each, std::optional<std::uint64_t>& target) {
  std::uint64_t number = 0;
  auto read = read_value(value, {&each.rule, &number});
  if (read.ok()) target = number;
  return read;
}

template <class Part>
status read_plain(const json& value, const row<Part>& each, code& target) {
  std::uint64_t number = 0;
  auto read = read_value(value, {&each.rule, &number});
  if (read.ok()) target = static_cast<code>(number);
  return read;
}

template <class Part>
result<std::size_t> read_name(const json& value, const row<Part>& each) {
  const auto names = each.names();
  for (std::size_t i = 0; value.is_string() && i < names.size(); ++i) {
    if (value.get_ref<const std::string&>() == names[i]) return i;
  }
  return refuse(each.rule, value, allowed_for(each));
}

template <class Part>
status read_plain(const json& value, const row<Part>& each, std::string& target) {
  if (each.names == nullptr) return read_value(value, {&each.rule, &target});
  if (auto read = read_name(value, each); !read) return read.error();
  target = value.get<std::string>();
  return {};
}

template <class Part, class Enum>
  requires std::is_same_v<Enum, fault_point> || std::is_same_v<Enum, fault_kind>
status read_plain(const json& value, const row<Part>& each, Enum& target) {
  const auto read = read_name(value, each);
  if (!read) return read.error();
  target = static_cast<Enum>(read.value());
  return {};
}

template <class Part>
status read_row(const json& value, const row<Part>& each, Part& part) {
  return std::visit([&](auto member) -> status {
    if constexpr (std::is_same_v<decltype(member), std::monostate>)
      return {};
    else
      return read_plain(value, each, part.*member);
  }, each.member);
}

// Such a number is written without ".0", as people write it; a NaN is none.
bool whole(double value) {
  return std::floor(value) == value && std::fabs(value) <= ids_most;
}

template <class Value>
nlohmann::ordered_json as_json(const Value& value) {
  if constexpr (std::is_same_v<Value, fault_point> || std::is_same_v<Value, fault_kind>)
    return std::string(to_string(value));
  else if constexpr (std::is_same_v<Value, std::optional<std::uint64_t>>)
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  else if constexpr (std::is_same_v<Value, code>)
    return static_cast<std::int32_t>(value);
  else if constexpr (std::is_same_v<Value, double>)
    return whole(value) ? nlohmann::ordered_json(static_cast<std::int64_t>(value))
                        : nlohmann::ordered_json(value);
  else
    return value;
}

template <class Part>
nlohmann::ordered_json write_row(const row<Part>& each, const Part& part) {
  return std::visit([&](auto member) -> nlohmann::ordered_json {
    if constexpr (std::is_same_v<decltype(member), std::monostate>)
      return nullptr;
    else
      return as_json(part.*member);
  }, each.member);
}

template <class Part>
bool has_default(const row<Part>& each, const Part& part) {
  static const Part defaults{};
  return std::visit([&](auto member) {
    if constexpr (std::is_same_v<decltype(member), std::monostate>)
      return true;
    else
      return part.*member == defaults.*member;
  }, each.member);
}

// The value goes through the same door as one from a file, so that the two are refused alike.
template <class Part>
status check_row(const row<Part>& each, const Part& part) {
  Part scratch;
  return read_row(json(write_row(each, part)), each, scratch);
}

// -- unknown names ------------------------------------------------------------

// Letters to insert, delete or replace until `a` is `b`.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> best(b.size() + 1);
  std::iota(best.begin(), best.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(best[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = best[j + 1];
      best[j + 1] = std::min({replaced, best[j] + 1, diagonal + 1});
    }
  }
  return best.back();
}

struct candidate {
  std::size_t distance;
  std::string_view name;
};

template <class Part>
void add_candidates(std::vector<candidate>& all, std::string_view key, bool at_home) {
  for (const auto& each : rows_of(static_cast<const Part*>(nullptr))) {
    const bool seen = std::ranges::any_of(all, [&](const auto& c) {
      return c.name == each.rule.name;
    });
    // A name of another object only wins when it is strictly nearer: "stream" beside "pick".
    const std::size_t distance = 2 * edits_between(key, key_of(each.rule)) + (at_home ? 0 : 1);
    if (!seen) all.push_back({distance, each.rule.name});
  }
}

template <class Part>
status unknown_field(std::string_view key, const json& value) {
  constexpr std::size_t key_most = 64; // bounds the work that a foreign name can ask for
  constexpr std::size_t names_most = 3;
  const auto looked_up = key.substr(0, key_most);
  std::vector<candidate> all;
  add_candidates<Part>(all, looked_up, true);
  add_candidates<fault_plan>(all, looked_up, false);
  add_candidates<fault_entry>(all, looked_up, false);
  add_candidates<fault_pick>(all, looked_up, false);
  add_candidates<fault_action>(all, looked_up, false);
  std::ranges::stable_sort(all, {}, &candidate::distance);
  std::vector<std::string_view> nearest;
  for (std::size_t i = 0; i < names_most; ++i) nearest.push_back(all[i].name);
  const std::string_view home = rows_of(static_cast<const Part*>(nullptr))[0].rule.name;
  const auto dot = home.find('.');
  const std::string prefix(dot == home.npos ? "" : home.substr(0, dot + 1));
  const std::string shown = show_json(json(std::string(key)));
  return make_status(code::invalid_parameter,
                     prefix + shown.substr(1, shown.size() - 2) + ": " + show_json(value) +
                         " is given for an unknown field; the nearest known are " +
                         listed(nearest));
}

// -- reference ----------------------------------------------------------------

template <class Part>
void describe_rows(std::string& text, std::string_view place) {
  const Part defaults{};
  for (const auto& each : rows_of(static_cast<const Part*>(nullptr))) {
    const auto value = write_row(each, defaults);
    const bool absent = value.is_null() || value == "";
    const std::string shown = absent ? "" : show_json(json(value));
    text += "| " + std::string(place) + " | `" + std::string(key_of(each.rule)) + "` | " +
            (each.always ? "required" : shown) + " | " + allowed_for(each) + " | " +
            std::string(each.rule.help) + " |\n";
  }
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

status not_taken(const row<fault_action>& each, const json& value, const fault_kind_rule& rule) {
  const std::string taken = taken_by(rule);
  return make_status(code::invalid_parameter,
                     std::string(each.rule.name) + ": " + show_json(value) +
                         " has no meaning for " + std::string(rule.name) + ", which takes " +
                         (taken.empty() ? "nothing" : taken));
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

std::string describe_fault_fields() {
  std::string text = "| in | field | default | allowed | meaning |\n|---|---|---|---|---|\n";
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
    std::vector<std::string_view> places;
    for (std::size_t p = 0; p < fault_point_count; ++p) {
      const auto point = static_cast<fault_point>(p);
      if (rule.makes_sense_at(point)) places.push_back(to_string(point));
    }
    const bool everywhere = places.size() == fault_point_count;
    text += "| `" + std::string(rule.name) + "` | " + taken_by(rule) + " | " +
            (everywhere ? "all" : listed(places)) + " | " +
            (rule.usual_code == code::success
                 ? ""
                 : std::to_string(static_cast<std::int32_t>(rule.usual_code))) +
            " | " + std::string(rule.help) + " |\n";
  }
  return text;
}

} // namespace troupe
