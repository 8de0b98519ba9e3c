#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace troupe {

/// What the runs of an exploration have seen between them: which kinds of messages followed each
/// other at a receiver, and how many orders were distinct, so that one sees when more seeds stop
/// paying. Kinds and receivers are the simulation's own numbers. One owner at a time.
class coverage {
public:
  using kind_pair = std::pair<std::uint32_t, std::uint32_t>; ///< first, then second

  /// Notes that `receiver` handled a message of kind `kind` in the run at hand.
  void add_step(std::uint64_t receiver, std::uint32_t kind);

  /// Ends the run at hand, whose order has the hash `order`; true if no run before had it.
  bool end_run(std::uint64_t order);

  /// How often each pair of neighbouring kinds was seen, over all runs and receivers. Pairs do not
  /// reach from one run into the next.
  [[nodiscard]] const std::map<kind_pair, std::uint64_t>& pairs() const noexcept { return pairs_; }

  [[nodiscard]] std::uint64_t runs() const noexcept { return runs_; }
  [[nodiscard]] std::uint64_t distinct_orders() const noexcept { return orders_.size(); }

  /// How many of the last `n` runs (of all, if there were fewer) had an order not seen before them.
  [[nodiscard]] std::uint64_t new_in_last(std::uint64_t n) const;

private:
  std::map<kind_pair, std::uint64_t> pairs_;
  std::map<std::uint64_t, std::uint32_t> last_kinds_; // by receiver, of the run at hand
  std::set<std::uint64_t> orders_;
  std::vector<std::uint64_t> new_runs_; // numbers, from 0, of the runs with a new order
  std::uint64_t runs_ = 0;
};

} // namespace troupe
