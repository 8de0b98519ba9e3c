#include "actors/scheduling/timer_queue.hpp"

namespace troupe {

timer_queue::timer_id timer_queue::schedule(time_ns at, std::function<void()> action) {
  const std::lock_guard lock(guard_);
  const auto id = ++last_id_;
  pending_.emplace(key{at, id}, std::move(action));
  due_.emplace(id, at);
  return id;
}

bool timer_queue::cancel(timer_id id) {
  std::function<void()> dropped; // declared first, so that it ends after the lock
  const std::lock_guard lock(guard_);
  const auto found = due_.find(id);
  if (found == due_.end()) return false;
  const auto entry = pending_.find(key{found->second, id});
  dropped = std::move(entry->second);
  pending_.erase(entry);
  due_.erase(found);
  return true;
}

time_ns timer_queue::next_due() const {
  const std::lock_guard lock(guard_);
  return pending_.empty() ? never_ns : pending_.begin()->first.first;
}

std::size_t timer_queue::run_due(time_ns now) {
  std::size_t ran = 0;
  for (;;) {
    std::function<void()> action;
    {
      const std::lock_guard lock(guard_);
      if (pending_.empty() || pending_.begin()->first.first > now) return ran;
      action = std::move(pending_.begin()->second);
      due_.erase(pending_.begin()->first.second);
      pending_.erase(pending_.begin());
    }
    action();
    ++ran;
  }
}

void timer_queue::clear() {
  std::map<key, std::function<void()>> dropped;
  const std::lock_guard lock(guard_);
  dropped.swap(pending_);
  due_.clear();
}

std::size_t timer_queue::size() const {
  const std::lock_guard lock(guard_);
  return pending_.size();
}

} // namespace troupe
