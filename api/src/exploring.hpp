#pragma once

#include <functional>
#include <string>

#include "troupe/exploring.hpp"

namespace troupe::testing {

using verdict_function = std::function<std::string(const simulation_report&)>;

struct run_outcome {
  simulation_report report;
  std::string trouble; ///< empty: none
};

/// One run of `body` and what went wrong in it.
[[nodiscard]] run_outcome run_once(const simulation_options& options, const explored_body& body,
                                   const verdict_function& verdict);

} // namespace troupe::testing
