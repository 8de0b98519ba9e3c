#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/faults/fault_action.hpp"
#include "core/faults/fault_site.hpp"

namespace troupe {

/// One fault that struck: which entry, what it does and what it hit.
struct fault_activation {
  std::uint64_t number = 0; ///< among all of the run, from 1
  std::size_t entry = 0;    ///< index in the plan, from 0
  std::string entry_name;   ///< for the error record of everything it causes
  fault_action action;
  fault_victim victim;
  /// Of whatever else has to be chosen (which bits flip). Made of the plan's seed, the entry, the
  /// channel and the ordinal, so that it repeats like the decision itself.
  std::uint64_t seed = 0;

  friend bool operator==(const fault_activation&, const fault_activation&) = default;
};

/// One line for a human: number, entry, action and victim.
[[nodiscard]] std::string describe(const fault_activation& activation);

/// What a plan has done so far. A plain value: a snapshot.
struct fault_report {
  struct entry_line {
    std::string name;
    fault_point point = fault_point::message;
    fault_action action;
    std::uint64_t matched = 0; ///< sites that fit, see `fault_pick`
    std::uint64_t fired = 0;

    friend bool operator==(const entry_line&, const entry_line&) = default;
  };

  std::string plan; ///< its name
  std::uint64_t seed = 0;
  std::vector<entry_line> entries;           ///< in the order of the plan
  std::vector<fault_activation> activations; ///< in the order of their numbers; the first ones
  std::uint64_t fired = 0;                   ///< all activations, kept or not

  [[nodiscard]] std::uint64_t not_kept() const noexcept { return fired - activations.size(); }

  /// As a JSON object. Equal reports give equal bytes.
  [[nodiscard]] std::string to_json() const;

  /// The same in one line, without a line break.
  [[nodiscard]] std::string to_json_line() const;

  /// As lines for a human, each with a line break at its end: a summary, one line an entry, one
  /// line an activation, one line for each entry that never fired.
  [[nodiscard]] std::string to_text() const;

  friend bool operator==(const fault_report&, const fault_report&) = default;
};

} // namespace troupe
