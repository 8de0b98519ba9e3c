#pragma once

#include <functional>
#include <optional>
#include <string>

#include "troupe/exploring.hpp"

namespace troupe::testing {

using verdict_function = std::function<std::string(const simulation_report&)>;

struct run_outcome {
  simulation_report report;
  std::string trouble; ///< empty: none
};

/// Runs a body again and again and says what went wrong each time: a hang, what was thrown, what
/// broke a rule, what the verdict says, and what was observed that the plainest run did not show.
/// That one is run once, and only if something is observed.
class trial {
public:
  /// `plainest` without its faults, first come, first served, is what others are compared with.
  /// All must outlive the trial; `verdict` may be empty.
  trial(const simulation_options& plainest, const explored_body& body,
        const verdict_function& verdict);

  [[nodiscard]] run_outcome run(const simulation_options& options);

private:
  [[nodiscard]] std::string compare(const simulation_report& seen);

  simulation_options plainest_;
  const explored_body& body_;
  const verdict_function& verdict_;
  std::optional<run_outcome> plain_;
};

} // namespace troupe::testing
