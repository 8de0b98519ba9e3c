#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "actors/ticket.hpp"
#include "core/command.hpp"

namespace troupe::operators {

/// One node of a dataflow: what an engine runs, and what has become of it. The engine writes
/// `reached` only; all else is the submitter's, which changes nothing before the node has ended.
struct flow_node {
  enum class stage : std::uint8_t { waiting, succeeded, failed };

  const char* name = "";
  std::function<status()> work;
  std::vector<access_range> ranges;
  std::vector<std::shared_ptr<flow_node>> inputs; ///< those whose results it reads
  std::atomic<stage> reached = stage::waiting;

  bool moves = false; ///< it copies: no node of the program's, and its failures are those of others
  status refusal;     ///< why it could not even be submitted
  std::size_t lane = 0;
  ticket end;
  bool concluded = false;
  status outcome;             ///< once concluded
  status first_cause;         ///< of a failure: its own, or that of the node it stems from
  const char* culprit = "";   ///< that node's name

  /// Whether its number is reached; one that was given up on may still run (see `ticket::ended`).
  [[nodiscard]] bool has_ended() const { return end.line->completed() >= end.number; }
};

/// The node as the payload of a command. Does not run one whose inputs have failed.
struct flow_step {
  std::shared_ptr<flow_node> node;

  static status invoke(void* payload, const block&) {
    using stage = flow_node::stage;
    auto& self = *static_cast<flow_step*>(payload)->node;
    // An engine that is restarted begins again.
    self.reached.store(stage::failed, std::memory_order_release);
    for (const auto& input : self.inputs) {
      if (input->reached.load(std::memory_order_acquire) != stage::succeeded) return {};
    }
    auto outcome = self.work();
    if (outcome.ok()) self.reached.store(stage::succeeded, std::memory_order_release);
    return outcome;
  }

  static void ranges(const void* payload, const access_sink& sink) {
    for (const auto& each : static_cast<const flow_step*>(payload)->node->ranges) sink(each);
  }
};

inline constexpr operation flow_step_ops = make_runnable<flow_step>();

} // namespace troupe::operators
