#pragma once

#include "tests/bench/limit.hpp"
#include "tests/bench/result.hpp"

#include <string>
#include <vector>

namespace troupe::bench {

/// What the printed and the written report are about.
struct report {
  std::vector<row> rows;
  std::vector<std::string> contenders;  ///< In the order of the columns.
  std::string judged;                   ///< Numerator of the ratios, judged by the limits.
  int repeats = 0;
  bool quick = false;
  results found;

  /// True if the judged contender is among the columns.
  [[nodiscard]] bool judged_takes_part() const;
};

/// Three significant digits with a unit that suits the size: "17.3 ns", "1.24 us", "31,200 /s".
[[nodiscard]] std::string format_figure(double figure, unit u);

/// The speed of a copy of `bytes` that takes `ns`.
[[nodiscard]] double gb_per_s(std::size_t bytes, double ns);

/// Lines of cells as aligned text, the first column to the left, all others to the right. All lines
/// must have as many cells as the first, which is the heading.
[[nodiscard]] std::string align(const std::vector<std::vector<std::string>>& lines);

/// One line a row: the medians of all contenders, then the judged one's ratio to each other.
/// Lines whose name ends in "^" are better when larger.
[[nodiscard]] std::string figures_table(const report& r);

/// One line a limit: bound, goal, measured, verdict.
[[nodiscard]] std::string limits_table(const report& r);

}  // namespace troupe::bench
