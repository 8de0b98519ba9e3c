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
/// broke a rule, which assertions failed, what the verdict says, and what was observed that the
/// plainest run did not show. That one is made before the first, so that what is said of a run
/// depends on no other. It is judged only by what it has to do with: where neither observes
/// anything, it makes no difference.
class trial {
public:
  /// `plainest` without its faults, first come, first served, is what others are compared with.
  /// All must outlive the trial; `verdict` may be empty.
  trial(const simulation_options& plainest, const explored_body& body,
        const verdict_function& verdict);

  [[nodiscard]] run_outcome run(const simulation_options& options);

  /// The same for a run by a script, which also fails when it passes and nothing in it fitted an
  /// entry of the script: such a run says nothing.
  [[nodiscard]] run_outcome replay(const simulation_options& options);

private:
  [[nodiscard]] run_outcome run_once(const simulation_options& options,
                                     const verdict_function& verdict) const;
  [[nodiscard]] std::string compare(const simulation_report& seen) const;

  simulation_options plainest_;
  const explored_body& body_;
  const verdict_function& verdict_;
  std::optional<run_outcome> plain_;
};

/// In what two runs of one seed differ that both passed, in a line; empty: in nothing.
[[nodiscard]] std::string difference(const run_outcome& one, const run_outcome& other);

} // namespace troupe::testing
