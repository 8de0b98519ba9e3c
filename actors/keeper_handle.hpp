#pragma once

#include <mutex>
#include <utility>

#include <caf/actor.hpp>

namespace troupe {

/// The handle of an actor that another may take the place of. Any thread.
class keeper_handle {
public:
  operator caf::actor() const { // NOLINT: it stands for the actor
    const std::lock_guard lock(guard_);
    return present_;
  }

  void set(caf::actor next) {
    const std::lock_guard lock(guard_);
    std::swap(present_, next); // what was there is let go after the lock
  }

private:
  mutable std::mutex guard_;
  caf::actor present_;
};

} // namespace troupe
