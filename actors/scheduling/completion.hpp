#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>

#include <gsl/gsl>

#include "actors/scheduling/clock.hpp"
#include "core/status.hpp"

namespace troupe {

/// Where one client thread waits. Set once; waiting never happens inside CAF.
///
/// Visibility: what happened before `set` is visible to whoever saw `is_set` return true or
/// `block_until` return true.
class completion {
public:
  /// Ends the wait. Any thread, any number of times.
  void set();

  [[nodiscard]] bool is_set() const noexcept { return set_.load(std::memory_order_acquire); }

  /// `is_set`, as a condition to poll.
  static bool ready(const void* self) { return static_cast<const completion*>(self)->is_set(); }

  /// Sleeps until `set` or until `deadline` on the steady clock; true if set. Used by the live
  /// way of waiting only.
  bool block_until(time_ns deadline);

private:
  std::atomic<bool> set_ = false;
  std::mutex guard_;
  std::condition_variable wake_;
};

/// A condition that a waiter polls: cheap, and without effects but those of reading.
struct poll {
  bool (*ready)(const void* self) = nullptr;
  const void* self = nullptr;

  [[nodiscard]] bool operator()() const { return ready(self); }
};

/// What a wait is for, in words, for reports of hangs: "stream 3 to reach number 1".
struct wait_words {
  std::string (*text)(const void* self) = nullptr;
  const void* self = nullptr;
};

class witness;

/// How client threads wait in one runtime: live they lend their thread to control work and then
/// sleep; simulated they pass the baton.
class waiting_room {
public:
  virtual ~waiting_room() = default;

  /// Called before a message is sent whose answer the same thread will wait for, so that no
  /// worker need be woken; matched by `end_lending`.
  virtual void begin_lending() noexcept = 0;
  virtual void end_lending() = 0;

  /// Polls `is_ready` for a short while, lending the thread to control work. True once ready.
  virtual bool poll_for(const poll& is_ready, time_ns deadline) = 0;

  /// Polls until ready or until `deadline`, for what tells nobody when it comes true. True if
  /// ready.
  virtual bool poll_until(const poll& is_ready, time_ns deadline) = 0;

  /// Sleeps until `point` is set or `deadline` has come; true if set.
  virtual bool sleep_on(completion& point, time_ns deadline) = 0;

  /// What the calling thread's next wait is for.
  virtual void note_wait(const wait_words&) {}

  /// Whether the calling thread's last wait ended because a simulated run hangs: 107019 and who
  /// waits for what, else success.
  [[nodiscard]] virtual status why_let_go() { return {}; }

  /// Who puts on record what clients ask and are told; null where nobody does.
  [[nodiscard]] virtual witness* seen() noexcept { return nullptr; }
};

/// Scope in which the calling thread promises to wait.
class lending_scope {
public:
  explicit lending_scope(waiting_room& room) : room_(&room) { room_->begin_lending(); }
  ~lending_scope() { room_->end_lending(); }
  lending_scope(const lending_scope&) = delete;
  lending_scope& operator=(const lending_scope&) = delete;

private:
  gsl::not_null<waiting_room*> room_;
};

} // namespace troupe
