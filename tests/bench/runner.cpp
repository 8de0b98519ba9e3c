#include "tests/bench/runner.hpp"

#include "tests/bench/child.hpp"

#include <gsl/gsl>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace troupe::bench {

namespace {

/// A contender in the course of one row.
struct entrant {
  series figures;
  std::unique_ptr<child> process;  // Null once it has dropped out.
};

class row_run {
public:
  row_run(const row& r, const run_options& options, results& found,
          std::set<std::string>& missing)
    : row_(r), options_(options), found_(found), missing_(missing) {}

  void enter(const contender& c) {
    const auto prepare = c.rows.find(row_.name);
    if (prepare == c.rows.end() || missing_.contains(c.name))
      return;
    auto process = std::make_unique<child>(prepare->second, row_.work(options_.quick));
    entrants_.push_back({{c.name, {}}, std::move(process)});
  }

  void play(int round) {
    for (auto& e : entrants_)
      if (e.process)
        turn(e, round);
  }

  void finish() {
    for (auto& e : entrants_)
      if (e.process)
        found_.add(row_.name, std::move(e.figures));
  }

private:
  void turn(entrant& e, int round) {
    const auto& name = e.figures.contender;
    if (options_.progress)
      options_.progress(row_, name, round);
    const auto outcome = e.process->turn(options_.turn_limit);
    if (outcome.outcome == answer::kind::figure) {
      if (round > 0)
        e.figures.figures.push_back(outcome.figure);
      return;
    }
    const bool crashed = outcome.outcome == answer::kind::failed;
    if (!crashed)
      missing_.insert(name);
    found_.add(problem{name, row_.name, outcome.reason, crashed});
    e.process.reset();
  }

  const row& row_;
  const run_options& options_;
  results& found_;
  std::set<std::string>& missing_;
  std::vector<entrant> entrants_;
};

}  // namespace

results run(const std::vector<contender>& contenders, const run_options& options) {
  Expects(options.repeats > 0);
  results found;
  std::set<std::string> missing;
  for (const auto& r : options.rows) {
    row_run this_row(r, options, found, missing);
    for (const auto& c : contenders)
      this_row.enter(c);
    for (int round = 0; round <= options.repeats; ++round)
      this_row.play(round);
    this_row.finish();
  }
  return found;
}

}  // namespace troupe::bench
