#pragma once

#include "tests/bench/table.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace troupe::bench {

/// The report with all figures of all repetitions, their median, least and greatest, and the
/// verdicts. Figures are in the row's unit (ns, %, B, images/s).
[[nodiscard]] nlohmann::json to_json(const report& r);

/// Writes `to_json(r)` to `path`. Throws std::runtime_error if the file cannot be written.
void write_json(const report& r, const std::string& path);

}  // namespace troupe::bench
