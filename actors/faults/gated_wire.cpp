#include "actors/faults/gated_wire.hpp"

#include <memory>
#include <utility>
#include <vector>

#include <caf/actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>

#include "actors/faults/fault_gate.hpp"
#include "actors/scheduling/actor_base.hpp"
#include "actors/scheduling/reply.hpp"
#include "actors/simulation/message_kind.hpp"

namespace troupe {
namespace {

caf::mailbox_element_ptr copy_of(caf::mailbox_element& element) {
  return caf::make_mailbox_element(element.sender, element.mid, element.stages,
                                   element.copy_content_to_message());
}

// Lets a message get lost: whoever waits for its answer learns why.
void lose(caf::mailbox_element_ptr element, const status& why) {
  const loss_scope because(why);
  element.reset();
}

} // namespace

status gated_wire::why_ended(wired_actor& ended) {
  return ended.killed ? gate_.why_killed(ended.self()) : status{};
}

// CAF's own messages (exit, down) are how a runtime ends: they always arrive. Who was killed is
// asked in vain until it has ended, and whoever asks waits for that.
void gated_wire::pass(wired_actor& target, caf::mailbox_element_ptr element,
                      caf::execution_unit* unit) {
  const auto& kind = message_kind_of(*element);
  if (kind == kind_of_caf) return forward(target, std::move(element), unit);
  if (target.killed) {
    const auto why = why_ended(target);
    const loss_scope because(why);
    return forward(target, std::move(element), unit);
  }
  if (const auto by = gate_.at_message(target, kind)) {
    return strike(*by, target, std::move(element), unit);
  }
  hand_on(target, std::move(element), unit);
}

void gated_wire::strike(const fault_activation& by, wired_actor& target,
                        caf::mailbox_element_ptr element, caf::execution_unit* unit) {
  const auto who = fault_gate::name_of(target.self());
  if (const auto late = gate_.late_until(by)) {
    return send_later(by, *late, target, std::move(element));
  }
  switch (by.action.kind) {
    case fault_kind::drop:
      return lose(std::move(element),
                  fault_gate::failure(by, "the message to " + who + " was lost"));
    case fault_kind::duplicate: {
      auto second = copy_of(*element);
      hand_on(target, std::move(element), unit);
      return hand_on(target, std::move(second), unit);
    }
    case fault_kind::kill_actor:
      gate_.note_kill(target, by);
      caf::anon_send_exit(caf::actor_cast<caf::actor>(&target.self()), caf::exit_reason::kill);
      return lose(std::move(element), why_ended(target));
    case fault_kind::restart_actor: {
      const auto why = fault_gate::failure(by, who + " has died, and another took its place");
      lose(std::move(element), why);
      auto fresh = caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, begin_again{why});
      return hand_on(target, std::move(fresh), unit);
    }
    case fault_kind::reorder:
    case fault_kind::pause_actor: return keep(by, target, std::move(element));
    default: return hand_on(target, std::move(element), unit);
  }
}

// The actor is kept for as long as its message is on the way.
void gated_wire::send_later(const fault_activation& by, time_ns due, wired_actor& target,
                            caf::mailbox_element_ptr element) {
  const auto letter = std::make_shared<late_letter>();
  letter->target = &target;
  letter->alive = caf::actor_cast<caf::strong_actor_ptr>(&target.self());
  letter->element = std::move(element);
  gate_.note_held(target, by);
  bool at_once = false;
  {
    const std::lock_guard lock(guard_);
    at_once = lets_go_;
    std::erase_if(late_, [](const auto& each) { return each.expired(); });
    if (!at_once) late_.push_back(letter);
  }
  if (at_once) return deliver(*letter);
  gate_.later(due, [this, letter] { deliver(*letter); });
}

// By its timer, or earlier when the runtime ends.
void gated_wire::deliver(late_letter& letter) {
  caf::mailbox_element_ptr element;
  {
    const std::lock_guard lock(guard_);
    element = std::move(letter.element);
  }
  if (!element) return;
  gate_.note_let_go(*letter.target);
  hand_on(*letter.target, std::move(element), nullptr);
}

// -- what is kept back ----------------------------------------------------------

void gated_wire::keep(const fault_activation& by, wired_actor& target,
                      caf::mailbox_element_ptr element) {
  using until = kept_mail::until;
  const bool pause = by.action.kind == fault_kind::pause_actor;
  const auto actor = target.self().id();
  {
    std::unique_lock lock(guard_);
    if (lets_go_) {
      lock.unlock();
      return forward(target, std::move(element), nullptr);
    }
    auto& mail = kept_[actor];
    if (mail.number == 0) gate_.note_held(target, by);
    mail.letters.push_back(std::move(element));
    mail.target = &target;
    mail.alive = caf::actor_cast<caf::strong_actor_ptr>(&target.self());
    // What is kept back already is not to be overtaken once more.
    if (mail.number == 0 || pause) {
      mail.number = by.number;
      mail.lasts = pause ? until::told
                         : (by.action.adversarial ? until::overtaken_by_any : until::overtaken);
      mail.sender = sender_scope::sender();
    }
  }
  const auto due = pause ? gate_.end_of(by.action) : after(gate_.now(), overtaking_patience);
  gate_.later(due, [this, actor, number = by.number] { end(actor, number); });
}

void gated_wire::hand_on(wired_actor& target, caf::mailbox_element_ptr element,
                         caf::execution_unit* unit) {
  using until = kept_mail::until;
  std::uint64_t overtaken = 0;
  {
    const std::lock_guard lock(guard_);
    const auto found = kept_.find(target.self().id());
    if (found != kept_.end()) {
      auto& mail = found->second;
      const bool overtakes =
          mail.lasts == until::overtaken_by_any ||
          (mail.lasts == until::overtaken && mail.sender != sender_scope::sender());
      if (!overtakes) return mail.letters.push_back(std::move(element));
      mail.lasts = until::told;
      overtaken = mail.number;
    }
  }
  const auto actor = target.self().id();
  forward(target, std::move(element), unit);
  if (overtaken != 0) end(actor, overtaken);
}

// Everything kept back goes in order, and what comes meanwhile goes behind it.
void gated_wire::end(std::uint64_t actor, std::uint64_t number) {
  for (bool first = true;; first = false) {
    caf::mailbox_element_ptr next;
    caf::strong_actor_ptr alive;
    wired_actor* target = nullptr;
    {
      const std::lock_guard lock(guard_);
      const auto found = kept_.find(actor);
      if (found == kept_.end() || found->second.number != number) return;
      auto& mail = found->second;
      if (first && std::exchange(mail.lasts, kept_mail::until::empty) == kept_mail::until::empty) {
        return; // somebody else is at it
      }
      alive = mail.alive;
      if (mail.letters.empty()) {
        gate_.note_let_go(*mail.target);
        kept_.erase(found);
        return;
      }
      next = std::move(mail.letters.front());
      mail.letters.pop_front();
      target = mail.target;
    }
    forward(*target, std::move(next), nullptr);
  }
}

void gated_wire::forward(wired_actor& target, caf::mailbox_element_ptr element,
                         caf::execution_unit* unit) {
  if (next_ != nullptr) {
    next_->pass(target, std::move(element), unit);
  } else {
    target.deliver(std::move(element), unit);
  }
}

void gated_wire::let_go() {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
  std::vector<std::weak_ptr<late_letter>> late;
  {
    const std::lock_guard lock(guard_);
    lets_go_ = true;
    late.swap(late_);
    for (const auto& [actor, mail] : kept_) all.emplace_back(actor, mail.number);
  }
  for (const auto& [actor, number] : all) end(actor, number);
  for (const auto& each : late) {
    if (const auto letter = each.lock()) deliver(*letter);
  }
}

} // namespace troupe
