#include "tests/bench/result.hpp"

#include <gsl/gsl>

#include <algorithm>
#include <utility>

namespace troupe::bench {

double median(std::vector<double> figures) {
  Expects(!figures.empty());
  std::sort(figures.begin(), figures.end());
  const auto middle = figures.size() / 2;
  if (figures.size() % 2 == 1)
    return figures[middle];
  return (figures[middle - 1] + figures[middle]) / 2;
}

void results::add(std::string_view row_name, series figures) {
  Expects(!figures.figures.empty());
  cells_.push_back({std::string{row_name}, std::move(figures)});
}

void results::add(problem p) {
  problems_.push_back(std::move(p));
}

const series* results::find(std::string_view row_name, std::string_view contender) const {
  auto found = std::find_if(cells_.begin(), cells_.end(), [&](const cell& c) {
    return c.row_name == row_name && c.figures.contender == contender;
  });
  return found == cells_.end() ? nullptr : &found->figures;
}

std::optional<double> results::figure(std::string_view row_name, std::string_view contender) const {
  const auto* found = find(row_name, contender);
  if (found == nullptr)
    return std::nullopt;
  return median(found->figures);
}

const std::vector<problem>& results::problems() const {
  return problems_;
}

bool results::any_crash() const {
  return std::any_of(problems_.begin(), problems_.end(),
                     [](const problem& p) { return p.crashed; });
}

}  // namespace troupe::bench
