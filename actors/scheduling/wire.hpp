#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include <caf/execution_unit.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/resumable.hpp>

#include "actors/faults/attacked_actor.hpp"
#include "actors/scheduling/reply.hpp"
#include "core/status.hpp"

namespace troupe {

class actor_base;

/// An actor whose messages pass a wire before they get into its mailbox.
class wired_actor {
public:
  virtual ~wired_actor() = default;

  /// Puts `element` into the mailbox. Any thread.
  virtual void deliver(caf::mailbox_element_ptr element, caf::execution_unit* unit) = 0;

  [[nodiscard]] virtual actor_base& self() noexcept = 0;

  // The `fault_gate`'s: what it knows of this actor.
  channel_count messages; ///< to it
  std::atomic<bool> killed = false;
  std::shared_ptr<attacked_actor> known; ///< null: nothing more
};

/// Who sends what is sent on this thread: the actor that it runs, or else the thread itself. Good
/// to be compared. Known where actors are wired.
class sender_scope {
public:
  explicit sender_scope(const void* actor) noexcept : outer_(std::exchange(running_, actor)) {}
  ~sender_scope() { running_ = outer_; }
  sender_scope(const sender_scope&) = delete;
  sender_scope& operator=(const sender_scope&) = delete;

  [[nodiscard]] static const void* sender() noexcept {
    return running_ != nullptr ? running_ : &running_;
  }

private:
  inline static thread_local const void* running_ = nullptr;
  const void* const outer_;
};

/// What stands between senders and mailboxes of a run in which messages are watched, ordered or
/// attacked. It may deliver a message, keep it for later, copy it, or let it go.
class wire {
public:
  virtual ~wire() = default;

  /// Takes every message sent to `target`. Any thread.
  virtual void pass(wired_actor& target, caf::mailbox_element_ptr element,
                    caf::execution_unit* unit) = 0;

  /// What those are told whose messages `ended`, which is about to end, has not handled; success:
  /// nothing in particular.
  [[nodiscard]] virtual status why_ended(wired_actor& /*ended*/) { return {}; }
};

/// The actor `Impl` with a wire in front of its mailbox; see `spawn_actor`.
template <class Impl>
class wired final : public Impl, public wired_actor {
public:
  template <class... Args>
  wired(caf::actor_config& config, wire& way, Args&&... args)
      : Impl(config, std::forward<Args>(args)...), way_(way) {}

  using Impl::enqueue;

  void enqueue(caf::mailbox_element_ptr element, caf::execution_unit* unit) override {
    way_.pass(*this, std::move(element), unit);
  }

  caf::resumable::resume_result resume(caf::execution_unit* unit,
                                       std::size_t messages_max) override {
    const sender_scope here(this);
    return Impl::resume(unit, messages_max);
  }

  bool cleanup(caf::error&& reason, caf::execution_unit* host) override {
    const auto why = way_.why_ended(*this);
    std::optional<loss_scope> because;
    if (!why.ok()) because.emplace(why);
    return Impl::cleanup(std::move(reason), host);
  }

  void deliver(caf::mailbox_element_ptr element, caf::execution_unit* unit) override {
    Impl::enqueue(std::move(element), unit);
  }

  [[nodiscard]] actor_base& self() noexcept override { return *this; }

private:
  wire& way_;
};

} // namespace troupe
