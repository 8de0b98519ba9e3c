#include "tests/bench/table.hpp"

#include <fmt/format.h>
#include <gsl/gsl>

#include <algorithm>
#include <cmath>
#include <optional>

namespace troupe::bench {

namespace {

constexpr std::string_view no_figure = "-";

std::string three_digits(double value) {
  const double size = std::abs(value);
  if (size >= 100)
    return fmt::format("{:.0f}", value);
  return size >= 10 ? fmt::format("{:.1f}", value) : fmt::format("{:.2f}", value);
}

std::string format_ratio(double ratio) {
  return ratio < 0.1 ? fmt::format("{:.4f}", ratio) : three_digits(ratio);
}

/// Shows a row as itself, or (for copies) once more as a speed.
struct shown_row {
  std::string label;
  bool as_speed;
};

std::string cell(const report& r, const row& line, const shown_row& shown,
                 const std::string& contender) {
  const auto figure = r.found.figure(line.name, contender);
  if (!figure)
    return std::string{no_figure};
  if (shown.as_speed)
    return fmt::format("{:.2f} GB/s", gb_per_s(line.full.bytes, *figure));
  return format_figure(*figure, line.figure);
}

std::string ratio_cell(const report& r, const row& line, bool as_speed, const std::string& peer) {
  const auto own = r.found.figure(line.name, r.judged);
  const auto other = r.found.figure(line.name, peer);
  if (!own || !other || *own <= 0 || *other <= 0)
    return std::string{no_figure};
  return format_ratio(as_speed ? *other / *own : *own / *other);
}

/// Those that the judged contender is compared with, none if it does not take part.
std::vector<std::string> peers_of_judged(const report& r) {
  if (!r.judged_takes_part())
    return {};
  auto peers = r.contenders;
  std::erase(peers, r.judged);
  return peers;
}

std::vector<std::string> line_of(const report& r, const row& line, const shown_row& shown) {
  std::vector<std::string> cells{shown.label};
  for (const auto& name : r.contenders)
    cells.push_back(cell(r, line, shown, name));
  for (const auto& peer : peers_of_judged(r))
    cells.push_back(ratio_cell(r, line, shown.as_speed, peer));
  return cells;
}

std::string format_measured(const verdict& v) {
  if (!v.measured)
    return std::string{no_figure};
  if (v.judged.measure == limit::kind::absolute)
    return format_figure(*v.measured, find_row(v.judged.row)->figure);
  return format_ratio(*v.measured);
}

}  // namespace

bool report::judged_takes_part() const {
  return std::find(contenders.begin(), contenders.end(), judged) != contenders.end();
}

std::string format_figure(double figure, unit u) {
  switch (u) {
    case unit::percent: return fmt::format("{:.3f} %", figure);
    case unit::bytes: return fmt::format("{:.0f} B", figure);
    case unit::images_per_second:
    case unit::runs_per_second: return fmt::format("{:.0f} /s", figure);
    case unit::nanoseconds: break;
  }
  if (figure < 1e3)
    return three_digits(figure) + " ns";
  if (figure < 1e6)
    return three_digits(figure / 1e3) + " us";
  return three_digits(figure / 1e6) + " ms";
}

double gb_per_s(std::size_t bytes, double ns) {
  Expects(ns > 0);
  return gsl::narrow_cast<double>(bytes) / ns;
}

std::string align(const std::vector<std::vector<std::string>>& lines) {
  Expects(!lines.empty());
  std::vector<std::size_t> widths(lines.front().size());
  for (const auto& line : lines) {
    Expects(line.size() == widths.size());
    for (std::size_t column = 0; column < line.size(); ++column)
      widths[column] = std::max(widths[column], line[column].size());
  }
  std::string text;
  for (const auto& line : lines) {
    text += fmt::format("{:<{}}", line[0], widths[0]);
    for (std::size_t column = 1; column < line.size(); ++column)
      text += fmt::format("  {:>{}}", line[column], widths[column]);
    text += '\n';
  }
  return text;
}

std::string figures_table(const report& r) {
  std::vector<std::string> heading{"row"};
  for (const auto& name : r.contenders)
    heading.push_back(name);
  for (const auto& peer : peers_of_judged(r))
    heading.push_back("/" + peer);
  std::vector<std::vector<std::string>> lines{heading};
  for (const auto& line : r.rows) {
    const auto mark = larger_is_better(line.figure) ? " ^" : "";
    lines.push_back(line_of(r, line, {line.name + mark, false}));
    if (line.moves_bytes())
      lines.push_back(line_of(r, line, {"  as speed ^", true}));
  }
  return align(lines);
}

std::string limits_table(const report& r) {
  std::vector<std::vector<std::string>> lines{{"row", "must", "goal", "measured", "verdict"}};
  for (const auto& v : judge(r.found, r.rows, r.judged)) {
    const auto goal = v.judged.goal ? fmt::format("{}", *v.judged.goal) : std::string{no_figure};
    lines.push_back(
      {v.judged.row, v.bound_text(), goal, format_measured(v), std::string{v.text()}});
  }
  return align(lines);
}

}  // namespace troupe::bench
