#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace troupe {

/// A client's thread in a simulated run: it goes on only while it has the baton. What is done
/// before `give` is visible after the `await` that it ends.
class player_thread {
public:
  /// Has `body` run on a thread of its own.
  void start(std::function<void()> body) { thread_ = std::thread(std::move(body)); }

  /// Gives the baton to this thread. By the thread that has it.
  void give() {
    const std::lock_guard lock(guard_);
    has_baton_ = true;
    given_.notify_one();
  }

  /// Waits for the baton and takes it. By this thread.
  void await() {
    std::unique_lock lock(guard_);
    given_.wait(lock, [this] { return has_baton_; });
    has_baton_ = false;
  }

  void join() {
    if (thread_.joinable()) thread_.join();
  }

private:
  std::mutex guard_;
  std::condition_variable given_;
  bool has_baton_ = false;
  std::thread thread_;
};

} // namespace troupe
