#include "actors/scheduling/lane.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <new>
#include <system_error>
#include <utility>

#include <gsl/gsl>

#include "actors/user_scope.hpp"

namespace troupe {

const char* to_string(lane_id id) noexcept {
  switch (id) {
    case lane_id::control: return "control";
    case lane_id::compute: return "compute";
    case lane_id::dma: return "dma";
    case lane_id::callback: return "callback";
  }
  return "unknown";
}

lane::lane(std::string name, unsigned threads_max, hooks use)
    : name_(std::move(name)), use_(std::move(use)), threads_max_(threads_max) {
  Expects(threads_max > 0);
  Expects(use_.run && use_.drop);
}

void lane::push(caf::resumable* job, bool wake) {
  std::unique_lock lock(guard_);
  queue_.push_back(job);
  queued_.store(queue_.size(), std::memory_order_relaxed);
  if (wake) ensure_thread(lock);
}

caf::resumable* lane::try_pop() {
  if (!has_work()) return nullptr;
  const std::lock_guard lock(guard_);
  if (queue_.empty() || stopping_) return nullptr;
  auto* job = queue_.front();
  queue_.pop_front();
  queued_.store(queue_.size(), std::memory_order_relaxed);
  return job;
}

void lane::settle() {
  std::unique_lock lock(guard_);
  const bool timed = use_.next_timer && use_.next_timer() != never_ns;
  if (!queue_.empty() || timed) ensure_thread(lock);
}

bool lane::ensure_served() {
  const std::lock_guard lock(guard_);
  return stopping_ || running_ > stuck_ || start_thread();
}

bool lane::replace_thread() {
  std::unique_lock lock(guard_);
  ++threads_max_;
  ++stuck_;
  if (stopping_) return true;
  if (running_ <= stuck_) return start_thread();
  if (!queue_.empty()) ensure_thread(lock);
  return true;
}

void lane::thread_returned() {
  const std::lock_guard lock(guard_);
  --threads_max_;
  --stuck_;
}

// A sleeper that was signalled but has not run yet is counted as awake, so that a burst of pushes
// wakes as many threads as it has jobs and no more.
void lane::ensure_thread(std::unique_lock<std::mutex>& lock) {
  if (stopping_) return;
  if (sleeping_ > signalled_) {
    ++signalled_;
    lock.unlock();
    work_.notify_one();
    return;
  }
  if (running_ < threads_max_) (void)start_thread();
}

// Under the lock. False, with nothing changed, if the system has no room for a thread.
bool lane::start_thread() {
  try {
    workers_.emplace_back();
  } catch (const std::bad_alloc&) {
    return false;
  }
  try {
    const auto mine = std::prev(workers_.end());
    auto body = [self = shared_from_this(), mine] { self->serve(mine); };
    mine->thread = use_.make_thread ? use_.make_thread(body) : std::thread(body);
  } catch (const std::system_error&) {
    workers_.pop_back();
    return false;
  } catch (const std::bad_alloc&) {
    workers_.pop_back();
    return false;
  }
  ++running_;
  return true;
}

void lane::serve(workers::iterator mine) {
  user_scope::tell_through(&mine->in_user_code);
  static constexpr std::size_t timer_check_interval = 32;
  std::size_t served = 0;
  std::unique_lock lock(guard_);
  while (!stopping_) {
    if (running_ > threads_max_) return retire(lock, mine);
    if (!queue_.empty()) {
      auto* job = queue_.front();
      queue_.pop_front();
      queued_.store(queue_.size(), std::memory_order_relaxed);
      lock.unlock();
      use_.run(job);
      // A lane that is never idle still serves its timers.
      if (use_.run_timers && ++served % timer_check_interval == 0) use_.run_timers();
      lock.lock();
      continue;
    }
    const auto due = use_.next_timer ? use_.next_timer() : never_ns;
    ++sleeping_;
    if (due == never_ns) {
      work_.wait(lock);
    } else {
      work_.wait_until(lock, to_steady(due));
    }
    --sleeping_;
    if (signalled_ > 0) --signalled_;
    if (use_.run_timers && !stopping_) {
      lock.unlock();
      use_.run_timers();
      lock.lock();
    }
  }
  --running_;
  ended_.notify_all();
}

// The calling thread is one too many. What it may have been woken for, others do.
void lane::retire(std::unique_lock<std::mutex>& lock, workers::iterator mine) {
  user_scope::tell_through(nullptr);
  auto before = std::exchange(retired_, std::move(mine->thread));
  workers_.erase(mine);
  --running_;
  if (!queue_.empty()) ensure_thread(lock);
  if (lock.owns_lock()) lock.unlock();
  if (before.joinable()) before.join();
}

void lane::stop() {
  const std::lock_guard lock(guard_);
  stopping_ = true;
  work_.notify_all();
}

void lane::run_rest() {
  for (;;) {
    std::unique_lock lock(guard_);
    Expects(stopping_);
    if (queue_.empty()) return;
    auto* job = queue_.front();
    queue_.pop_front();
    lock.unlock();
    use_.run(job);
  }
}

// Our own code ends by itself, however late; the limit is there lest an unforeseen fault of ours
// becomes a hang: enough for any thread that only waits for a core.
void lane::await_slow_threads(std::unique_lock<std::mutex>& lock) {
  constexpr int looks_max = 10'000;
  constexpr auto between_looks = std::chrono::milliseconds(1); // entering user code wakes nobody
  for (int looks = 0; looks < looks_max; ++looks) {
    const auto inside =
        std::count_if(workers_.begin(), workers_.end(), [](const worker& each) {
          return each.in_user_code.load(std::memory_order_acquire);
        });
    if (running_ <= inside) return;
    ended_.wait_for(lock, between_looks);
  }
}

std::size_t lane::join(time_ns deadline) {
  std::unique_lock lock(guard_);
  Expects(stopping_);
  ended_.wait_until(lock, to_steady(deadline), [&] { return running_ == 0; });
  await_slow_threads(lock);
  const auto stuck = static_cast<std::size_t>(running_);
  auto retired = std::move(retired_);
  auto dropped = std::move(queue_);
  queue_.clear();
  queued_.store(0, std::memory_order_relaxed);
  lock.unlock();
  if (retired.joinable()) retired.join(); // it is in no job
  for (auto& each : workers_) { // none is made after the stop
    // With a thread stuck nobody can tell which handle is whose, so none is joined then.
    if (stuck == 0) {
      each.thread.join();
    } else {
      each.thread.detach();
    }
  }
  for (auto* job : dropped) use_.drop(job);
  return stuck;
}

} // namespace troupe
