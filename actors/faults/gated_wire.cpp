#include "actors/faults/gated_wire.hpp"

#include <memory>

#include <caf/actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>

#include "actors/faults/fault_gate.hpp"
#include "actors/scheduling/actor_base.hpp"

namespace troupe {
namespace {

caf::mailbox_element_ptr copy_of(caf::mailbox_element& element) {
  return caf::make_mailbox_element(element.sender, element.mid, element.stages,
                                   element.copy_content_to_message());
}

} // namespace

std::string gated_wire::kind_of(caf::mailbox_element& element) {
  const std::lock_guard lock(guard_);
  return kinds_.of(element);
}

void gated_wire::hand_on(wired_actor& target, caf::mailbox_element_ptr element,
                         caf::execution_unit* unit) {
  if (next_ != nullptr) {
    next_->pass(target, std::move(element), unit);
  } else {
    target.deliver(std::move(element), unit);
  }
}

// CAF's own messages (exit, down) are how a runtime ends: they always arrive.
void gated_wire::pass(wired_actor& target, caf::mailbox_element_ptr element,
                      caf::execution_unit* unit) {
  const auto kind = kind_of(*element);
  const auto by = kind == message_kinds::of_caf ? fault_gate::strike{}
                                                : gate_.at_message(target.self(), kind);
  if (!by) return hand_on(target, std::move(element), unit);
  if (const auto late = gate_.late_until(*by)) {
    // The actor is kept for as long as its message is on the way.
    auto alive = caf::actor_cast<caf::strong_actor_ptr>(&target.self());
    auto held = std::make_shared<caf::mailbox_element_ptr>(std::move(element));
    gate_.later(*late, [this, &target, alive = std::move(alive), held = std::move(held)] {
      if (*held) hand_on(target, std::move(*held), nullptr);
    });
    return;
  }
  switch (by->action.kind) {
    case fault_kind::drop: return;
    case fault_kind::duplicate: {
      auto second = copy_of(*element);
      hand_on(target, std::move(element), unit);
      return hand_on(target, std::move(second), unit);
    }
    case fault_kind::kill_actor:
      caf::anon_send_exit(caf::actor_cast<caf::actor>(&target.self()), caf::exit_reason::kill);
      break;
    default: break;
  }
  hand_on(target, std::move(element), unit);
}

} // namespace troupe
