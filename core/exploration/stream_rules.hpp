#pragma once

#include <string>

#include "core/exploration/run_record.hpp"

namespace troupe {

/// What `record` has against a rule of streams, in a line; empty if it keeps it. See
/// `default_oracles`.
[[nodiscard]] std::string check_order(const run_record& record);
[[nodiscard]] std::string check_tickets(const run_record& record);
[[nodiscard]] std::string check_truth(const run_record& record);

} // namespace troupe
