#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <gsl/gsl>

#include "core/faults/fault_plan.hpp"
#include "core/json_fields.hpp"

namespace troupe::fault_rows {

// The rows of the table of a plan's fields; see fault_fields.hpp. For core/faults alone.

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
  /// Of a pick: the points whose sites carry the field, as `fault_gate` makes them.
  fault_point_set points = all_fault_points;
};

inline constexpr double ids_most = 9007199254740991.0; // 2^53 - 1: exact in JSON
inline constexpr double ms_most = 1e9;                 // 11 days; in ns far from overflow
inline constexpr double text_most = 255;

inline constexpr std::array<row<fault_plan>, 3> plan_rows{{
    {{"name", 1, text_most, false, "what reports call the plan"}, &fault_plan::name},
    {{"seed", 0, ids_most, false, "of every chance in the plan"}, &fault_plan::seed},
    {{"entries", 0, 0, false, "the first entry that fits a site strikes"}, {}, nullptr,
     "an array of 0 to 1000 entries"},
}};

inline constexpr std::array<row<fault_entry>, 3> entry_rows{{
    {{"name", 1, text_most, false, "for reports and error records; empty: \"entry N\", from 1"},
     &fault_entry::name},
    {{"pick", 0, 0, false, "what to strike"}, {}, nullptr, "an object, see pick", true},
    {{"action", 0, 0, false, "what to do to it"}, {}, nullptr, "an object, see action", true},
}};

// Where a site knows its stream, and with it context and device.
inline constexpr auto of_streams =
    points_of(fault_point::submit, fault_point::handoff, fault_point::execute,
              fault_point::complete, fault_point::timer);

inline constexpr std::array<row<fault_pick>, 13> pick_rows{{
    {{"pick.point", 0, 0, false, "what is about to happen"}, &fault_pick::point, fault_point_names,
     {}, true},
    {{"pick.device", 0, ids_most, false, "index of the device"}, &fault_pick::device, nullptr, {},
     false, fault_point_set{of_streams | points_of(fault_point::heartbeat)}},
    {{"pick.context", 0, ids_most, false, "id of the context; at allocate 0: host memory"},
     &fault_pick::context, nullptr, {}, false,
     fault_point_set{of_streams | points_of(fault_point::allocate)}},
    {{"pick.stream", 0, ids_most, false, "id of the stream"}, &fault_pick::stream, nullptr, {},
     false, fault_point_set{of_streams | points_of(fault_point::notice)}},
    {{"pick.engine", 0, 0, false, "kind of the engine"}, &fault_pick::engine, fault_engine_names,
     {}, false, points_of(fault_point::handoff, fault_point::execute)},
    {{"pick.message", 1, text_most, false, "kind of the message"}, &fault_pick::message, nullptr,
     {}, false, points_of(fault_point::message)},
    {{"pick.operation", 1, text_most, false,
      "name of the task, kernel or copy; at reply, of the call that is answered"},
     &fault_pick::operation, nullptr, {}, false,
     points_of(fault_point::submit, fault_point::execute, fault_point::complete,
               fault_point::reply)},
    {{"pick.channel", 1, text_most, false, "name of the channel"}, &fault_pick::channel},
    {{"pick.ordinal", 0, ids_most, false,
      "number on the channel; without a channel, number among the entry's matches; 0: any"},
     &fault_pick::ordinal},
    {{"pick.from_ms", 0, ms_most, false, "not before; since the runtime began"},
     &fault_pick::from_ms},
    {{"pick.until_ms", 0, ms_most, false, "only before; 0: no end"}, &fault_pick::until_ms},
    {{"pick.chance", 0, 1, true, "share of the matches; by seed, entry, channel and ordinal"},
     &fault_pick::chance},
    {{"pick.times", 0, ids_most, false, "how often it may fire; 0: no limit"}, &fault_pick::times},
}};

inline constexpr std::array<row<fault_action>, 8> action_rows{{
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
    {{"action.adversarial", 0, 0, false,
      "lets it break an order that is promised; the report says so"},
     &fault_action::adversarial},
    {{"action.code", 100000, 599999, false,
      "the failure to report; by default the usual one of the kind"},
     &fault_action::code},
}};

constexpr const auto& rows_of(const fault_plan*) { return plan_rows; }
constexpr const auto& rows_of(const fault_entry*) { return entry_rows; }
constexpr const auto& rows_of(const fault_pick*) { return pick_rows; }
constexpr const auto& rows_of(const fault_action*) { return action_rows; }

/// What names the field in a JSON object.
inline std::string_view key_of(const field_rule& rule) {
  const auto dot = rule.name.find('.');
  return dot == rule.name.npos ? rule.name : rule.name.substr(dot + 1);
}

/// The names as one text: "delay, drop".
[[nodiscard]] std::string listed(gsl::span<const std::string_view> names);

/// The row of a parameter, which must be one.
[[nodiscard]] const row<fault_action>& action_row(std::string_view name);

/// The parameters that a kind of action takes, as one text.
[[nodiscard]] std::string taken_by(const fault_kind_rule& rule);

/// The refusal of a field of `Part` that has no row, with the known names that are nearest.
template <class Part>
[[nodiscard]] status unknown_field(std::string_view key, const nlohmann::json& value);

} // namespace troupe::fault_rows
