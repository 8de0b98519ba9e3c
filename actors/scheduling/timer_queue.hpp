#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "actors/scheduling/clock.hpp"

namespace troupe {

/// The timers of one runtime, in one place. A timer's action is short and never blocks: it sends
/// a message. Nothing waits for a pending timer, so shutdown is never held up by one, and a
/// cancelled timer is gone at once. Any thread.
class timer_queue {
public:
  using timer_id = std::uint64_t;

  /// Runs `action` once `at` has come; actions due at one instant run in the order of scheduling.
  timer_id schedule(time_ns at, std::function<void()> action);

  /// Forgets the timer. False if it fired already or is firing now.
  bool cancel(timer_id id);

  /// When the next timer is due; `never_ns` if there is none.
  [[nodiscard]] time_ns next_due() const;

  /// Runs all that is due at `now`. Returns how many ran.
  std::size_t run_due(time_ns now);

  /// Forgets all timers.
  void clear();

  [[nodiscard]] std::size_t size() const;

private:
  using key = std::pair<time_ns, timer_id>;

  mutable std::mutex guard_;
  std::map<key, std::function<void()>> pending_;
  std::map<timer_id, time_ns> due_;
  timer_id last_id_ = 0;
};

} // namespace troupe
