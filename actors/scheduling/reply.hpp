#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "core/status.hpp"

namespace troupe {

/// While it lives, replies that go away unanswered on this thread fail with `why`: whoever lets a
/// message get lost on purpose tells what became of it.
class loss_scope {
public:
  explicit loss_scope(const status& why) noexcept : outer_(std::exchange(why_, &why)) {}
  ~loss_scope() { why_ = outer_; }
  loss_scope(const loss_scope&) = delete;
  loss_scope& operator=(const loss_scope&) = delete;

  /// Whether somebody tells here.
  [[nodiscard]] static bool told() noexcept { return why_ != nullptr; }

  [[nodiscard]] static status why() {
    return told() ? *why_
                  : make_status(code::internal_error,
                                "the actor that owed the answer ended before giving it");
  }

private:
  inline static thread_local const status* why_ = nullptr;
  const status* const outer_;
};

/// An answer that an actor owes. It is given exactly once: by the handler, or, if the message is
/// dropped or the actor ends first, by the last copy of the reply as it goes away. So nobody waits
/// for ever for a message that was lost.
///
/// `T` is `status` or a `result`. Copyable as CAF's messages must be; all copies are one debt.
template <class T>
class reply {
public:
  /// `deliver` is called once, on the thread that answers, and must be short; with the failure that
  /// `unanswered` tells if nobody gives the answer.
  explicit reply(std::function<void(T)> deliver, std::function<status()> unanswered = {})
      : debt_(std::make_shared<debt>(std::move(deliver), std::move(unanswered))) {}

  /// Gives the answer; later ones are ignored.
  void operator()(T answer) const { debt_->settle(std::move(answer)); }

  /// Whether the answer was given, by this copy or another.
  [[nodiscard]] bool given() const noexcept { return debt_->settled.load(); }

  /// Answers with a failure.
  void fail(status why) const { debt_->settle(T(std::move(why))); }

private:
  struct debt {
    debt(std::function<void(T)> d, std::function<status()> u)
        : deliver(std::move(d)), unanswered(std::move(u)) {}
    debt(const debt&) = delete;
    debt& operator=(const debt&) = delete;
    ~debt() {
      if (!settled.load()) settle(T(unanswered ? unanswered() : loss_scope::why()));
    }
    void settle(T answer) {
      if (!settled.exchange(true)) deliver(std::move(answer));
    }

    std::function<void(T)> deliver;
    std::function<status()> unanswered;
    std::atomic<bool> settled = false;
  };

  std::shared_ptr<debt> debt_;
};

/// A reply for which nobody waits.
template <class T>
[[nodiscard]] reply<T> no_reply() {
  return reply<T>([](T) {});
}

} // namespace troupe
