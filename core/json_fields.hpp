#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gsl/gsl>
#include <nlohmann/json_fwd.hpp>

#include "core/status.hpp"

namespace troupe {

// Settings described by one table per struct. A row names a field, its member, its limits and its
// meaning; reading JSON, reading environment variables, checking values set by code, and the
// printed reference all work from the rows, so that they cannot disagree.
//
// Not installed: public headers speak of JSON as text only.

/// What is allowed in one field. Limits apply to numbers by value, to texts by length in bytes.
/// Both are exact, as doubles, below 2^53.
struct field_rule {
  std::string_view name;
  double least = 0;
  double most = 0;
  bool above_least = false; ///< `least` itself is already too small
  std::string_view help;
};

/// The variable that a field points to.
using field_target = std::variant<unsigned*, std::uint64_t*, double*, std::string*>;

/// A row: the rule and, as a member of `Struct`, the place.
template <class Struct>
struct field {
  field_rule rule;
  std::variant<unsigned Struct::*, std::uint64_t Struct::*, double Struct::*,
               std::string Struct::*>
      member;
};

/// A row of a table together with one object's variable. The rule outlives it: tables are static.
struct bound_field {
  const field_rule* rule;
  field_target target;
};

/// All rows of `table` for `object`, which must outlive the result.
template <class Struct, std::size_t Size>
[[nodiscard]] std::vector<bound_field> bind_fields(const std::array<field<Struct>, Size>& table,
                                                   Struct& object) {
  std::vector<bound_field> bound;
  bound.reserve(Size);
  for (const auto& row : table) {
    bound.push_back({&row.rule, std::visit([&object](auto member) -> field_target {
                       return &(object.*member);
                     }, row.member)});
  }
  return bound;
}

/// A number as people write it: no trailing zeros, no exponent for the integers of our limits.
[[nodiscard]] std::string show_number(double value);

/// A JSON value of a foreign file as a short text for a message.
[[nodiscard]] std::string show_json(const nlohmann::json& value);

/// What may stand in a field, in words: "a whole number from 0 to 64".
[[nodiscard]] std::string allowed_values(const bound_field& field);

/// Parses a JSON text. Failure `parse_file` names `origin`, line, column and reason; a key given
/// twice in one object is such a failure too, as silently keeping either would hide a mistake.
/// Failure `invalid_parameter` names `origin` and field of a value that nests more than 32 deep.
[[nodiscard]] result<nlohmann::json> parse_json(std::string_view text, std::string_view origin);

/// Sets one field. Failure `invalid_parameter` for a wrong type or a value outside the limits
/// names field, value and what is allowed, and leaves the target alone. A whole number may be
/// written as 2.0 or 1e6, as many tools write them.
[[nodiscard]] status read_value(const nlohmann::json& value, const bound_field& field);

/// Sets every field that `object` mentions and leaves the others alone. Failure
/// `invalid_parameter` as by `read_value`, or for a field that is neither in `fields` nor
/// `also_known`, a field that the caller reads itself. Fields read before a failure stay set.
[[nodiscard]] status read_fields(const nlohmann::json& object, gsl::span<const bound_field> fields,
                                 std::string_view also_known = {});

/// Sets one field from plain text, as found in the environment. `label` names it in a failure
/// (`invalid_parameter`), which leaves the target alone.
[[nodiscard]] status read_text(std::string_view text, const bound_field& field,
                               std::string_view label);

/// Success if every field's present value keeps its rule, else `invalid_parameter` for the first
/// that does not.
[[nodiscard]] status check_fields(gsl::span<const bound_field> fields);

/// The present values as a JSON object, in the order of the rows.
[[nodiscard]] std::string write_fields(gsl::span<const bound_field> fields);

/// "TROUPE_" and the field's name in capitals: the environment variable of a field.
[[nodiscard]] std::string environment_name(const field_rule& rule);

/// Whether the reference of a table has a column of environment variables.
enum class environment_column { absent, present };

/// The reference of a table, with the present values as its defaults, in Markdown.
[[nodiscard]] std::string describe_fields(gsl::span<const bound_field> fields,
                                          environment_column variables);

/// `failure` with `prefix` before its message, to say in which file or element it happened.
[[nodiscard]] status within(std::string_view prefix, const status& failure);

} // namespace troupe
