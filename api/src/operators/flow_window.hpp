#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "actors/machine.hpp"
#include "api/src/operators/flow_lanes.hpp"
#include "core/dataflow/dependency_book.hpp"
#include "troupe/operators/dataflow.hpp"

namespace troupe::operators {

/// The nodes of a dataflow that are under way, and those that failed and may still be read: what
/// depends on what, and what became of it. One thread at a time.
class flow_window {
public:
  using node_ptr = std::shared_ptr<flow_node>;

  /// What a node needs as long as it is under way.
  struct keep {
    std::vector<tensor> tensors;
    pool_buffer<std::byte> scratch;
  };

  flow_window(machine& home, flow_lanes& lanes, std::size_t limit)
      : home_(home), lanes_(lanes), limit_(limit) {}

  /// The nodes that one with `ranges` waits for, ascending; `data` those whose results it reads.
  struct before {
    std::vector<node_ptr> all;
    std::vector<node_ptr> data;
  };
  [[nodiscard]] before before_of(std::span<const access_range> ranges) const;

  /// Lets go of what has ended, and waits while there is no room for one more. Failures: 207014
  /// when there is none for the runtime's `submit_timeout_ms`, and why the work was dropped.
  status make_room();

  /// Enters a node that was submitted.
  void add(node_ptr made, keep needs);

  /// Waits for `node` until `deadline`. Failures: 507046 then, naming `limit_ms`, and why the work
  /// was dropped; what became of the node is no failure of this.
  status await(const node_ptr& node, time_ns deadline, std::int64_t limit_ms);

  /// Finds out what became of the first ones, as far as they have ended; of all that have.
  void conclude();
  void conclude_all();

  /// Those under way, in the order of submission.
  [[nodiscard]] std::vector<node_ptr> all() const;
  [[nodiscard]] status take_first_failure() { return std::exchange(first_failure_, {}); }
  [[nodiscard]] const dataflow_counters& counters() const noexcept { return counters_; }

private:
  struct entry {
    node_ptr node;
    keep needs;
  };

  // What a failed node wrote in memory that a tensor keeps.
  struct spoiled_memory {
    access_range range;
    std::weak_ptr<const void> keeper;
  };
  struct failure {
    node_ptr node;
    std::vector<spoiled_memory> wrote;
  };

  [[nodiscard]] node_ptr find(dependency_book::node number) const;
  [[nodiscard]] std::vector<spoiled_memory> spoiled_by(dependency_book::node number) const;
  void forget_freed();
  void conclude(flow_node& node, dependency_book::node number);
  [[nodiscard]] status full(std::int64_t allowed_ms) const;
  void fail(flow_node& node, status own);
  void skip(flow_node& node, const flow_node& input);

  machine& home_;
  flow_lanes& lanes_;
  const std::size_t limit_;
  dependency_book book_;
  std::deque<entry> under_way_;
  dependency_book::node first_ = 1; // number of the first entry
  std::map<dependency_book::node, failure> failed_;
  status first_failure_;
  dataflow_counters counters_;
};

} // namespace troupe::operators
