#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/exploration/run_coverage.hpp"

namespace troupe {

/// What the runs of an exploration have seen between them: how many orders were distinct, so that
/// one sees when more seeds stop paying, and, where it was measured, which messages met actors in
/// which state. One owner at a time.
class coverage {
public:
  /// Adds a run whose order has the hash `order`; true if no run before had it.
  bool end_run(std::uint64_t order);
  void add(const run_coverage& run) { seen_.add(run); }

  [[nodiscard]] const run_coverage& seen() const noexcept { return seen_; }
  [[nodiscard]] std::uint64_t runs() const noexcept { return runs_; }
  [[nodiscard]] std::uint64_t distinct_orders() const noexcept { return orders_.size(); }

  /// How many of the last `n` runs (of all, if there were fewer) had an order not seen before them.
  [[nodiscard]] std::uint64_t new_in_last(std::uint64_t n) const;

  /// The number of the last run, from 1, whose order was new; 0 if there was none.
  [[nodiscard]] std::uint64_t last_new_run() const;

  /// A Markdown table of actor, state, message, and how often before and after a fault; then what
  /// the `cast` could have shown and was not seen, how many pairs of neighbouring messages were,
  /// and the orders. Where nothing was measured it says so in place of the table. Lines end with
  /// a line break.
  [[nodiscard]] std::string describe() const;

private:
  run_coverage seen_;
  std::set<std::uint64_t> orders_;
  std::vector<std::uint64_t> new_runs_; // numbers, from 0, of the runs with a new order
  std::uint64_t runs_ = 0;
};

} // namespace troupe
