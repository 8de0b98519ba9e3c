#pragma once

#include "tests/bench/row.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::bench {

/// The figures that one contender reached in one row, one a repetition.
struct series {
  std::string contender;
  std::vector<double> figures;
};

/// Why a contender has no figures in a row.
struct problem {
  std::string contender;
  std::string row;  ///< Where it showed first.
  std::string reason;
  bool crashed;  ///< False if the contender is merely not available here.
};

/// The middle one of `figures`, the mean of the middle two if their number is even.
/// Requires at least one.
[[nodiscard]] double median(std::vector<double> figures);

/// Everything that a run found out.
class results {
public:
  void add(std::string_view row_name, series figures);
  void add(problem p);

  /// Null if the contender has no figure in this row.
  [[nodiscard]] const series* find(std::string_view row_name, std::string_view contender) const;

  /// The median of that cell, if it was measured.
  [[nodiscard]] std::optional<double> figure(std::string_view row_name,
                                             std::string_view contender) const;

  [[nodiscard]] const std::vector<problem>& problems() const;

  /// True if a contender failed, died or hung; false if all problems are missing contenders.
  [[nodiscard]] bool any_crash() const;

private:
  struct cell {
    std::string row_name;
    series figures;
  };
  std::vector<cell> cells_;
  std::vector<problem> problems_;
};

}  // namespace troupe::bench
