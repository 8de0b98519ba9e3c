#pragma once

#include <mutex>
#include <utility>

#include <caf/actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>

namespace troupe {

/// The handle of an actor that another takes the place of when it dies, as what it keeps lies in
/// records; until the runtime ends it for good. Any thread.
class keeper_handle {
public:
  operator caf::actor() const { // NOLINT: it stands for the actor
    const std::lock_guard lock(guard_);
    return present_;
  }

  /// The first one, also after an end.
  void begin(caf::actor first) {
    const std::lock_guard lock(guard_);
    ended_ = false;
    std::swap(present_, first);
  }

  /// Has the one that `make` makes take its place, unless there is to be none any more.
  template <class Make>
  void replace(Make make) {
    caf::actor before; // let go after the lock
    const std::lock_guard lock(guard_);
    if (!ended_) before = std::exchange(present_, make());
  }

  /// Ends the actor.
  void end() {
    const std::lock_guard lock(guard_);
    ended_ = true;
    if (present_) caf::anon_send_exit(present_, caf::exit_reason::user_shutdown);
  }

private:
  mutable std::mutex guard_;
  caf::actor present_;
  bool ended_ = false;
};

} // namespace troupe
