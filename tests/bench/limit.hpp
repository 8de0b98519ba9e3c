#pragma once

#include "tests/bench/result.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::bench {

/// A bound on one row of the judged contender.
struct limit {
  enum class kind {
    absolute,      ///< The figure, at most.
    share_of_peer, ///< The figure divided by the best peer's, at most.
    speed_of_peer, ///< The speed divided by the best peer's, at least (rows measured in time).
    share_of_row,  ///< The figure divided by the judged contender's own in another row, at most.
  };
  std::string row;
  kind measure;
  std::vector<std::string> others;  ///< Peers, or the other row; empty for `absolute`.
  double must;
  std::optional<double> goal;
};

/// The limits that Troupe is held against.
[[nodiscard]] const std::vector<limit>& all_limits();

/// How one limit came out.
struct verdict {
  limit judged;
  std::optional<double> measured;  ///< Empty if a figure that it needs is missing.

  [[nodiscard]] bool meets(double bound) const;
  /// "met", "met, goal too", "NOT MET" or "not measured".
  [[nodiscard]] std::string_view text() const;
  /// The bound in words, such as "<= 0.5 x caf".
  [[nodiscard]] std::string bound_text() const;
};

/// Judges `contender` by every limit whose row was run.
[[nodiscard]] std::vector<verdict> judge(const results& found, const std::vector<row>& rows,
                                         std::string_view contender);

}  // namespace troupe::bench
