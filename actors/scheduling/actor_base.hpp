#pragma once

#include <exception>
#include <string>
#include <type_traits>
#include <utility>

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/result.hpp>

#include "actors/scheduling/lane.hpp"
#include "actors/scheduling/thread_sanitizer.hpp"
#include "core/status.hpp"

namespace troupe {

/// Ends an actor as it is and has a fresh one take its place, with the same address and mailbox;
/// `why` is what it tells those to whom it owed an answer. Sent by faults alone.
struct begin_again {
  status why;
};

/// The base of every actor of the cast. It says on which lane the actor runs, keeps exceptions
/// inside the handler, tells ThreadSanitizer the truth about mailboxes, and replaces CAF's
/// printing defaults: a message that an actor does not understand is a bug and counted as such.
class actor_base : public caf::event_based_actor {
public:
  actor_base(caf::actor_config& config, lane_id lane, const char* role)
      : caf::event_based_actor(config), lane_(lane), role_(role) {
    set_default_handler(&take_unexpected);
    set_exception_handler(&count_escaped);
  }

  using caf::abstract_actor::enqueue;

  void enqueue(caf::mailbox_element_ptr element, caf::execution_unit* unit) override {
    announce_release(this);
    caf::event_based_actor::enqueue(std::move(element), unit);
  }

  /// Under ThreadSanitizer one message a turn: then everything read in this turn was released
  /// before it began.
  resume_result resume(caf::execution_unit* unit, std::size_t messages_max) override {
    announce_acquire(this);
    return caf::event_based_actor::resume(unit, under_thread_sanitizer ? 1 : messages_max);
  }

  /// The last reference may go on another thread than the one that ran the actor last.
  void on_destroy() override {
    announce_acquire(this);
    caf::event_based_actor::on_destroy();
  }

  /// Ends the messages that are still in the mailbox, those that came during this turn included.
  bool cleanup(caf::error&& reason, caf::execution_unit* host) override {
    announce_acquire(this);
    const auto ended = caf::event_based_actor::cleanup(std::move(reason), host);
    announce_release(this);
    return ended;
  }

  /// Marks our actors for the scheduler, which may then ask for the lane.
  subtype_t subtype() const final { return io_actor; }

  const char* name() const final { return role_; }

  [[nodiscard]] lane_id lane() const noexcept { return lane_; }

  /// The state that the actor is in, in a word or two: one of those that `cast` lists. On its lane.
  [[nodiscard]] virtual const char* state_word() const { return "up"; }

  /// How many messages no handler took, and how many exceptions left a handler, in this process.
  [[nodiscard]] static std::size_t unexpected_messages() noexcept;

protected:
  /// The handlers; called once, on the lane.
  virtual caf::behavior handlers() = 0;

  /// Forgets what only this actor knew and takes up from the records what a fresh one would.
  virtual void start_again(const status& why);

  /// Wraps a handler for one message type: order announced, exceptions turned into the failure of
  /// the message's reply (507000), the actor kept. A request that was answered is not served again:
  /// it is the second copy of one that came twice.
  template <class Message, class F>
  auto on(F handle) {
    return [this, handle](Message& message) {
      if constexpr (requires { message.answer; }) {
        if (message.answer.given()) return;
      }
      try {
        handle(message);
      } catch (...) {
        if constexpr (requires { message.answer; }) {
          message.answer.fail(status_of_exception(std::current_exception(), role_));
        }
      }
      announce_release(this);
    };
  }

  /// 507000 with the actor's role and the exception's text.
  static status status_of_exception(std::exception_ptr thrown, const char* role);

private:
  caf::behavior make_behavior() final { return handlers(); }

  static caf::result<caf::message> take_unexpected(caf::scheduled_actor* self,
                                                   caf::message_view& message);
  static caf::error count_escaped(caf::scheduled_actor* self, std::exception_ptr& thrown);

  const lane_id lane_;
  const char* const role_;
};

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::begin_again)
