#include "actors/scheduling/completion.hpp"

namespace troupe {

void completion::set() {
  const std::lock_guard lock(guard_);
  set_.store(true, std::memory_order_release);
  // Notified under the lock: the waiter may end this object as soon as it can take the lock.
  wake_.notify_all();
}

bool completion::block_until(time_ns deadline) {
  std::unique_lock lock(guard_);
  const auto done = [this] { return set_.load(std::memory_order_relaxed); };
  if (deadline == never_ns) {
    wake_.wait(lock, done);
    return true;
  }
  return wake_.wait_until(lock, to_steady(deadline), done);
}

} // namespace troupe
