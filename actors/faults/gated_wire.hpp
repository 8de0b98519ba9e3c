#pragma once

#include <mutex>
#include <string>

#include "actors/scheduling/wire.hpp"
#include "actors/simulation/message_kind.hpp"

namespace troupe {

class fault_gate;

/// The wire of a runtime with a plan of faults: messages between actors may be late, lost or
/// doubled on it. What gets through goes on to `next`, or into the mailbox.
class gated_wire final : public wire {
public:
  gated_wire(fault_gate& gate, wire* next) : gate_(gate), next_(next) {}

  void pass(wired_actor& target, caf::mailbox_element_ptr element,
            caf::execution_unit* unit) override;

private:
  void hand_on(wired_actor& target, caf::mailbox_element_ptr element, caf::execution_unit* unit);
  [[nodiscard]] std::string kind_of(caf::mailbox_element& element);

  fault_gate& gate_;
  wire* const next_;
  std::mutex guard_;
  message_kinds kinds_;
};

} // namespace troupe
