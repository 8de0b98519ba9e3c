#pragma once

#include <functional>
#include <string>
#include <vector>

#include "actors/scheduling/completion.hpp"
#include "actors/scheduling/lane.hpp"
#include "actors/scheduling/timer_queue.hpp"

namespace troupe {

class work_pace;

/// What a runtime asks of the scheduler that it was loaded with: the live one or the simulated one.
class scheduler : public waiting_room {
public:
  /// Runs `action` on a thread of control at `due`; see `timer_queue`. Any thread.
  virtual timer_queue::timer_id at_time(time_ns due, std::function<void()> action) = 0;
  virtual bool cancel(timer_queue::timer_id id) = 0;
  [[nodiscard]] virtual std::size_t pending_timers() const = 0;

  /// Whether any actor of that lane waits for a thread.
  [[nodiscard]] virtual bool has_work(lane_id id) const noexcept = 0;

  /// Whether anybody can run actors of that lane: makes a thread if there is none that is not stuck
  /// in user code, and tells false if the system refuses it.
  [[nodiscard]] virtual bool ensure_served(lane_id id) = 0;

  /// Allows one more thread of that lane, in place of one that is stuck in user code; then as
  /// `ensure_served`.
  [[nodiscard]] virtual bool replace_thread(lane_id id) = 0;

  /// A thread of that lane that was replaced has come back from user code.
  virtual void thread_returned(lane_id id) = 0;

  /// Ends the threads. Returns the names of those still in user code at `deadline`. After the first
  /// call it returns nothing.
  [[nodiscard]] virtual std::vector<std::string> join(time_ns deadline) = 0;

  /// How long work takes where time is simulated; null where work takes the time it takes.
  [[nodiscard]] virtual work_pace* pace() noexcept = 0;
};

} // namespace troupe
