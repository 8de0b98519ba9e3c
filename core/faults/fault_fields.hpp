#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "core/faults/fault_plan.hpp"
#include "core/status.hpp"

namespace troupe {

// The table of the fields of a fault plan: reading, checking, writing and the printed reference all
// work from it. It stands on `json_fields` and adds what plans need: fields that may be absent,
// names from a list, true and false, and a struct of structs.
//
// `Part` is fault_plan, fault_entry, fault_pick or fault_action; of a plan and an entry these see
// the plain fields only, not `entries`, `pick` and `action`.

/// Sets every field of `part` that `object` mentions. Failure `invalid_parameter` with field, value
/// and what is allowed; for an unknown field with the known names that are nearest.
template <class Part>
[[nodiscard]] status read_part(const nlohmann::json& object, Part& part);

/// Success if every field either has its default or keeps its rule.
template <class Part>
[[nodiscard]] status check_part(const Part& part);

/// Success if the field `name`, by itself, keeps its rule, also when it has its default.
[[nodiscard]] status check_parameter(const fault_action& action, std::string_view name);

/// Success if `action` has its default in every parameter that its kind does not take.
[[nodiscard]] status check_taken(const fault_action& action);

/// The same for a JSON object: a parameter that the kind does not take must not be mentioned, and
/// one that it needs must be.
[[nodiscard]] status check_mentioned(const nlohmann::json& object, fault_kind kind);

/// Success if `pick`, whose point must be one, has its default in every field that no site at that
/// point carries.
[[nodiscard]] status check_carried(const fault_pick& pick);

/// The fields of `part` that do not have their defaults, and those without which no JSON is read
/// (`point`, `kind`).
template <class Part>
[[nodiscard]] nlohmann::ordered_json write_part(const Part& part);

} // namespace troupe
