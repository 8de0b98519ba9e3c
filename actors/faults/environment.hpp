#pragma once

#include <optional>

#include "core/faults/fault_plan.hpp"
#include "core/faults/fault_report.hpp"
#include "core/status.hpp"

namespace troupe {

/// The plan that TROUPE_FAULT_PLAN names, a file as for `fault_plan::from_file`: it befalls every
/// live runtime of the process, whatever program it is. Nothing if the variable is not set or
/// empty. Failures: those of `from_file`, with the variable named.
[[nodiscard]] result<std::optional<fault_plan>> fault_plan_of_environment();

/// Tells what that plan did to a runtime: as one line of JSON, added to the end of the file that
/// TROUPE_FAULT_REPORT names (a line for each runtime, and the file grows from one process to the
/// next), or as text on standard error if it names none, or one that
/// cannot be written.
void tell_faults(const fault_report& report);

} // namespace troupe
