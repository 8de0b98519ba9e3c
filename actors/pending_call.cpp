#include "actors/pending_call.hpp"

#include <caf/actor_cast.hpp>

#include "actors/faults/fault_gate.hpp"
#include "actors/machine.hpp"
#include "actors/scheduling/actor_base.hpp"

namespace troupe {
namespace {

actor_base& actor_behind(const caf::actor& handle) {
  return static_cast<actor_base&>(*caf::actor_cast<caf::abstract_actor*>(handle));
}

// A simulated run in which nothing can get lost needs no bound, and there it would depend on how
// long other work is said to take.
time_ns deadline_of(const machine& home) {
  const auto limit_ms = home.options().control_timeout_ms;
  const bool endless = limit_ms == 0 || (home.play() != nullptr && home.gate() == nullptr);
  return endless ? never_ns : after(home.time().now(), time_ns{1'000'000} * limit_ms);
}

} // namespace

pending_call::pending_call(machine& home, const caf::actor& target, const char* call)
    : home_(home), role_(actor_behind(target).name()), id_(actor_behind(target).id()),
      known_(home.gate() != nullptr ? home.gate()->known_of(actor_behind(target)) : nullptr),
      call_(call) {}

status pending_call::await() {
  auto& room = home_.room();
  // Most answers come while this thread polls, which ends by itself: those cost no look at a clock.
  if (room.poll_for({&completion::ready, &point_}, never_ns)) return {};
  room.note_wait({[](const void* self) { return static_cast<const pending_call*>(self)->words(); },
                  this});
  if (room.sleep_on(point_, deadline_of(home_))) return {};
  {
    const std::lock_guard lock(guard_);
    if (state_ == state::waiting) {
      state_ = state::left;
      auto hangs = room.why_let_go();
      return hangs.ok() ? too_late() : hangs;
    }
  }
  (void)room.sleep_on(point_, never_ns); // it is being stored just now
  return {};
}

pending_call::use pending_call::arrives() {
  const std::lock_guard lock(guard_);
  switch (state_) {
    case state::waiting: state_ = state::answered; return use::taken;
    case state::left: state_ = state::over; return use::unwanted;
    case state::answered:
    case state::over: break;
  }
  return use::repeated;
}

status pending_call::too_late() const {
  error_record record;
  record.what = code::wait_timeout;
  record.message = std::string(call_) + ": no answer from " +
                   answering() + " within " +
                   std::to_string(home_.options().control_timeout_ms) +
                   " ms (control_timeout_ms); what it did for the call is given back";
  record.plan_entry = struck_by_;
  if (struck_by_.empty() && known_) record.plan_entry = home_.gate()->entry_holding(*known_);
  return status(std::move(record));
}

std::optional<fault_activation> pending_call::strike() {
  auto* gate = home_.gate();
  if (gate == nullptr || home_.stopping()) return {};
  auto by = gate->at_reply(answering(), known_->answers, call_);
  if (by) {
    const std::lock_guard lock(guard_);
    struck_by_ = by->entry_name;
  }
  return by;
}

bool pending_call::late(const fault_activation& by, std::function<void()> arrive) {
  auto& gate = *home_.gate();
  const auto due = gate.late_until(by);
  if (due) gate.later(*due, std::move(arrive));
  return due.has_value();
}

} // namespace troupe
