#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <caf/actor_control_block.hpp>

#include "actors/scheduling/clock.hpp"
#include "actors/scheduling/wire.hpp"

namespace troupe {

class fault_gate;
struct fault_activation;

/// How long a message or a hand-over that is to be overtaken waits for one that does.
inline constexpr time_ns overtaking_patience = 10'000'000;

/// The wire of a runtime with a plan of faults: messages between actors may be late, lost, doubled
/// or overtaken on it, and actors may be paused, started again or killed. What gets through goes on
/// to `next`, or into the mailbox.
class gated_wire final : public wire {
public:
  gated_wire(fault_gate& gate, wire* next) : gate_(gate), next_(next) {}

  void pass(wired_actor& target, caf::mailbox_element_ptr element,
            caf::execution_unit* unit) override;

  /// Hands on everything that is late or kept back, and keeps nothing back any more: the runtime
  /// ends.
  void let_go();

  [[nodiscard]] status why_ended(wired_actor& ended) override;

private:
  // What comes for one actor while something of it is kept back.
  struct kept_mail {
    enum class until : unsigned char {
      overtaken,        // another sender's message comes
      overtaken_by_any, // any message comes
      told,             // its time is over
      empty,            // it is being handed on, what comes meanwhile behind it
    };
    std::uint64_t number = 0; // of the fault it is for
    until lasts = until::told;
    const void* sender = nullptr; // of what is to be overtaken
    wired_actor* target = nullptr;
    caf::strong_actor_ptr alive; // the target
    std::deque<caf::mailbox_element_ptr> letters;
  };

  // A message that comes later than it was sent.
  struct late_letter {
    wired_actor* target = nullptr;
    caf::strong_actor_ptr alive; // the target
    caf::mailbox_element_ptr element;
  };

  void send_later(const fault_activation& by, time_ns due, wired_actor& target,
                  caf::mailbox_element_ptr element);
  void deliver(late_letter& letter);
  void strike(const fault_activation& by, wired_actor& target, caf::mailbox_element_ptr element,
              caf::execution_unit* unit);
  void keep(const fault_activation& by, wired_actor& target, caf::mailbox_element_ptr element);
  void hand_on(wired_actor& target, caf::mailbox_element_ptr element, caf::execution_unit* unit);
  void forward(wired_actor& target, caf::mailbox_element_ptr element, caf::execution_unit* unit);
  void end(std::uint64_t actor, std::uint64_t number);

  fault_gate& gate_;
  wire* const next_;
  std::mutex guard_; // of all below
  std::map<std::uint64_t, kept_mail> kept_; // by actor
  std::vector<std::weak_ptr<late_letter>> late_; // those that are on the way
  bool lets_go_ = false;
};

} // namespace troupe
