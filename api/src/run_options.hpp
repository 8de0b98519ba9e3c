#pragma once

#include <string>
#include <vector>

#include "troupe/testing.hpp"

namespace troupe::testing {

/// What a run is really made with: `asked`, with the faults of its script in place of its plan
/// where the script speaks of faults. Throws `troupe::error` for anything wrong: options of the
/// runtime, plan, script, costs, oracles.
[[nodiscard]] simulation_options checked_options(const simulation_options& asked);

/// Which entries of the script that `made` replays nothing in the run fitted, delays and faults.
[[nodiscard]] std::vector<std::string> unmet_entries(const simulation_options& made,
                                                     std::vector<std::string> delays,
                                                     const fault_report& faults);

/// Names of kernels for which `costs` declares a time and that `record` does not know.
[[nodiscard]] std::vector<std::string> unused_costs(const cost_model& costs,
                                                    const run_record& record);

/// What is wrong if tasks of the run had to go without their names, on which `made` relies.
[[nodiscard]] std::string lost_names(const simulation_options& made, const run_record& record);

} // namespace troupe::testing
