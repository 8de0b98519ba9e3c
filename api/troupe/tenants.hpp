#pragma once

#include <string>
#include <vector>

#include "core/faults/fault_plan.hpp"
#include "core/faults/fault_report.hpp"
#include "troupe/exploring.hpp"

namespace troupe::testing {

/// What tenant A did and got, alone and beside tenant B. A trace has a line for each command of A,
/// stream by stream in the order of its numbers, and what became of it (worked, failed and with
/// which code, dropped), a line for each thing that A observed, and one for what it threw. Records
/// and waits are left out unless they failed, as an idle stream takes none.
struct tenant_comparison {
  std::vector<std::string> alone;
  std::vector<std::string> beside;
  std::string b_threw;                ///< the text of what left B's body; empty: nothing
  fault_report faults;                ///< that struck B
  std::vector<violation> violations;  ///< of the oracles, in either run
  /// Why the comparison proves nothing, a line each: a run that hung, what left it, an A that threw
  /// or did nothing, a B that threw unstruck, a fault that never fired.
  std::vector<std::string> doubts;

  /// The first line in which the traces differ, of both; empty if they are equal.
  [[nodiscard]] std::string difference() const;

  /// Whether B made no difference to A, no rule was broken, and nothing raises a doubt.
  [[nodiscard]] bool isolated() const {
    return difference().empty() && violations.empty() && doubts.empty();
  }

  /// That in a few lines.
  [[nodiscard]] std::string describe() const;
};

/// Runs `a` alone, and then `a` and `b` as two clients of one runtime, under the options and seed
/// of `options`; `faults_on_b` befalls what happens in contexts that B made, and nothing else.
///
/// A tenant is the client and all that it starts; what is its own lies in contexts that it makes
/// with `device::create_context` and is put on record with `stage::observe`. Not compared: times,
/// which differ where engines are shared, the order of things in different streams, and the numbers
/// of contexts and streams. B can still make a difference by taking what both share: a device's
/// memory or streams.
///
/// Throws `troupe::error` (107000) for bad options, for a script in them, for a plan in
/// `options.faults`, and, naming it, for an entry of `faults_on_b` at a point that belongs to no
/// context (message, notice).
[[nodiscard]] tenant_comparison compare_tenants(const simulation_options& options,
                                                const explored_body& a, const explored_body& b,
                                                const fault_plan& faults_on_b = {});

} // namespace troupe::testing
