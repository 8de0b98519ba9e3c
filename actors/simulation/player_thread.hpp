#pragma once

#include <functional>
#include <thread>
#include <utility>

#include <semaphore.h>

namespace troupe {

/// A client's thread in a simulated run: it goes on only while it has the baton. What is done
/// before `give` is visible after the `await` that it ends.
///
/// Most of the time that a run of several clients takes is spent here, hence the semaphore of the
/// system: whoever is woken has the baton at once and waits for no lock.
class player_thread {
public:
  player_thread() noexcept { (void)::sem_init(&baton_, 0, 0); }
  ~player_thread() { (void)::sem_destroy(&baton_); }
  player_thread(const player_thread&) = delete;
  player_thread& operator=(const player_thread&) = delete;

  /// Has `body` run on a thread of its own.
  void start(std::function<void()> body) { thread_ = std::thread(std::move(body)); }

  /// Gives the baton to this thread, which does not have it. By the thread that has it.
  void give() noexcept { (void)::sem_post(&baton_); }

  /// Waits for the baton and takes it. By this thread.
  void await() noexcept {
    while (::sem_wait(&baton_) != 0) {} // a signal came
  }

  void join() {
    if (thread_.joinable()) thread_.join();
  }

private:
  sem_t baton_;
  std::thread thread_;
};

} // namespace troupe
