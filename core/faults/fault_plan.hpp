#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/faults/fault_action.hpp"
#include "core/faults/fault_site.hpp"
#include "core/status.hpp"

namespace troupe {

/// What an entry strikes. Everything that is set must fit; what is left empty fits everything. A
/// field that no site at `point` carries must be left empty, which `fault_plan::validate` holds.
///
/// A site that fits all fields but `ordinal` and `chance` is a *match* of the entry. Matches are
/// counted by each entry for itself, whether or not another entry struck there: what one entry
/// does never shifts the ordinals of another.
///
/// `ordinal` with a channel: what passes there as number so and so, whoever else runs. Without one:
/// the so-and-so-many-th match of the entry, which repeats in simulated runs only. 0: any.
struct fault_pick : fault_place {
  double from_ms = 0;      ///< since the runtime began
  double until_ms = 0;     ///< the first moment that is too late; 0: no end
  double chance = 1;       ///< by seed, place in the plan, channel and ordinal
  std::uint64_t times = 1; ///< how often the entry may fire; 0: no limit

  friend bool operator==(const fault_pick&, const fault_pick&) = default;
};

/// One line of a plan.
struct fault_entry {
  std::string name; ///< for reports and error records; empty: "entry N", counted from 1
  fault_pick pick;
  fault_action action;

  friend bool operator==(const fault_entry&, const fault_entry&) = default;
};

/// Which faults a run shall have. A plain value, in code or as JSON:
///
///     {"name": "lost interrupt", "seed": 7, "entries": [
///       {"pick": {"point": "complete", "operation": "copy", "chance": 0.1, "times": 0},
///        "action": {"kind": "drop"}},
///       {"name": "slow engine", "pick": {"point": "execute", "device": 0, "times": 0},
///        "action": {"kind": "slow", "factor": 10}}]}
///
/// All fields with their limits: `describe_fault_fields`; all actions: `describe_fault_actions`.
struct fault_plan {
  static constexpr std::size_t entries_max = 1'000;

  std::string name;
  std::uint64_t seed = 0; ///< below 2^53, so that JSON keeps it
  std::vector<fault_entry> entries;

  friend bool operator==(const fault_plan&, const fault_plan&) = default;

  /// A valid plan from a JSON object. Failures: `parse_file` with the position for broken JSON;
  /// `invalid_parameter` with entry, field, value and what is allowed, for an unknown field with
  /// the known names that are nearest.
  [[nodiscard]] static result<fault_plan> from_json(std::string_view json);

  /// The same from a file of at most 1 MiB. Failure `invalid_file`, with path and reason, when it
  /// cannot be read; else as `from_json`, with the path in the message. Blocks on the disk.
  [[nodiscard]] static result<fault_plan> from_file(const std::string& path);

  /// What `from_json` reads back to an equal value, if the plan is valid; without the fields that
  /// have their defaults.
  [[nodiscard]] std::string to_json() const;

  /// `invalid_parameter`, worded as by `from_json`, for the first thing that is wrong.
  [[nodiscard]] status validate() const;

  /// The name that reports use for `entries[index]`.
  [[nodiscard]] std::string entry_name(std::size_t index) const;
};

/// A reference of all fields of a plan as a Markdown table: the object a field stands in, field,
/// default, allowed values, meaning.
[[nodiscard]] std::string describe_fault_fields();

/// A reference of all actions as a Markdown table: action, what it takes, where it makes sense,
/// the code it causes, meaning.
[[nodiscard]] std::string describe_fault_actions();

} // namespace troupe
