#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include <nlohmann/json.hpp>

#include "core/faults/fault_rows.hpp"

namespace troupe::fault_rows {

// One member of any type, by its row: what is allowed, reading, writing, checking. For core/faults
// alone; not to be included by a header.

using json = nlohmann::json;

inline status refuse(const field_rule& rule, const json& value, std::string_view allowed) {
  return make_status(code::invalid_parameter, std::string(rule.name) + ": " + show_json(value) +
                                                  " is not " + std::string(allowed));
}

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
inline bool whole(double value) {
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

} // namespace troupe::fault_rows
