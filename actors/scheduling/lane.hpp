#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "actors/scheduling/clock.hpp"

namespace caf {
class resumable;
} // namespace caf

namespace troupe {

/// Which threads run an actor. Kept apart so that no kernel, copy or user callback, however long,
/// can hold up control.
enum class lane_id : unsigned char {
  control,  ///< short handlers that never block
  compute,  ///< kernels
  dma,      ///< copies
  callback, ///< user functions in stream order
};
inline constexpr std::size_t lane_count = 4;

[[nodiscard]] const char* to_string(lane_id id) noexcept;

/// A queue of runnable actors and the threads that run them. Threads are made when there is work
/// and nobody to do it, up to a limit, and sleep when there is none: an idle lane costs nothing.
///
/// A thread that cannot be made is no failure of whoever pushed: the lane goes on with those it has
/// and tries again at the next push. Whether it has any at all is told by `ensure_served`.
///
/// Held by `shared_ptr`: a thread that is stuck in user code at shutdown keeps its lane alive.
class lane : public std::enable_shared_from_this<lane> {
public:
  /// What the threads need from the scheduler.
  struct hooks {
    std::function<void(caf::resumable*)> run;    ///< resumes a job; puts it back if it has more
    std::function<void(caf::resumable*)> drop;   ///< ends a job that nobody will run
    std::function<time_ns()> next_timer;         ///< empty: the lane serves no timers
    std::function<void()> run_timers;
    /// Makes a thread, or throws as `std::thread` does; empty: a `std::thread`.
    std::function<std::thread(std::function<void()>)> make_thread;
  };

  /// At most `threads_max` threads at once, which must be positive.
  lane(std::string name, unsigned threads_max, hooks use);

  // -- work -------------------------------------------------------------------

  /// Queues `job` and sees to it that a thread takes it. Any thread. With `wake` false the caller
  /// promises to run the queue itself and to call `settle` when it stops doing so.
  void push(caf::resumable* job, bool wake = true);

  /// Takes the oldest job, or null. Any thread.
  [[nodiscard]] caf::resumable* try_pop();

  /// Wakes a thread if work is queued: the end of a promise made with `push(job, false)`, and the
  /// call after an earlier timer was set.
  void settle();

  /// Whether any job is queued; one relaxed load.
  [[nodiscard]] bool has_work() const noexcept {
    return queued_.load(std::memory_order_relaxed) != 0;
  }

  /// Makes a thread unless there is one that is not stuck in user code. False if there is none and
  /// the system refuses another: then nobody would run a job.
  [[nodiscard]] bool ensure_served();

  /// Allows one more thread, in place of one that is stuck in user code; then as `ensure_served`.
  [[nodiscard]] bool replace_thread();

  /// A thread that was replaced has come back: the next that has ended its job ends itself.
  void thread_returned();

  // -- the end ----------------------------------------------------------------

  /// Tells the threads to end after the job at hand; queued jobs are dropped by `join`.
  void stop();

  /// Waits for all threads until `deadline`. Threads still in user code then (see `user_scope`) are
  /// left to themselves and counted in the result; others are only slow, as the machine is busy,
  /// and waited for. Call after `stop`, from outside the lane.
  [[nodiscard]] std::size_t join(time_ns deadline);

  /// Runs what is queued on the calling thread until nothing is left; after `join`, for the last
  /// words of actors whose threads are gone.
  void run_rest();

  [[nodiscard]] const std::string& name() const noexcept { return name_; }

private:
  struct alignas(64) worker { // apart from others, as it changes with every kernel
    std::atomic<bool> in_user_code = false;
    std::thread thread;
  };
  using workers = std::list<worker>;

  void serve(workers::iterator mine);
  void await_slow_threads(std::unique_lock<std::mutex>& lock);
  void ensure_thread(std::unique_lock<std::mutex>& lock);
  bool start_thread();
  void retire(std::unique_lock<std::mutex>& lock, workers::iterator mine);

  const std::string name_;
  const hooks use_;
  std::mutex guard_;
  std::condition_variable work_;
  std::condition_variable ended_;
  std::deque<caf::resumable*> queue_;
  workers workers_;
  std::thread retired_; // the last one; it joins the one before
  std::atomic<std::size_t> queued_ = 0;
  std::ptrdiff_t threads_max_; // signed, as is what may come back before it is replaced
  std::ptrdiff_t stuck_ = 0;   // of those running, in user code for ever
  std::size_t sleeping_ = 0;
  std::size_t signalled_ = 0; // sleepers that were woken and have not come back yet
  std::ptrdiff_t running_ = 0; // threads that have not ended
  bool stopping_ = false;
};

} // namespace troupe
