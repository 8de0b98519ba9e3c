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

  /// Allows one more thread of that lane, in place of one that is stuck in user code.
  virtual void replace_thread(lane_id id) = 0;

  /// Ends the threads. Returns the names of those still in user code at `deadline`. After the first
  /// call it returns nothing.
  [[nodiscard]] virtual std::vector<std::string> join(time_ns deadline) = 0;

  /// How long work takes where time is simulated; null where work takes the time it takes.
  [[nodiscard]] virtual work_pace* pace() noexcept = 0;
};

} // namespace troupe
