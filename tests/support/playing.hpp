#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "troupe/testing.hpp"
#include "troupe/troupe.hpp"

namespace troupe {

/// The simulation that a test of the behaviour suite runs in; null when it runs live. Set by the
/// suite's `main`.
inline testing::stage* playing = nullptr;

[[nodiscard]] inline bool simulated() noexcept { return playing != nullptr; }

/// The name of kernels that never end in simulated runs.
inline constexpr char stuck_kernel[] = "stuck";

/// Leaves a test out of simulated runs, for a reason that is counted and printed.
#define LIVE_ONLY(why)                                                                         \
  if (::troupe::simulated()) GTEST_SKIP() << "live only: " why

/// A runtime of the kind this run of the suite is about.
[[nodiscard]] inline runtime make_runtime(runtime_options options) {
  return simulated() ? playing->make_runtime(std::move(options)) : runtime(std::move(options));
}

/// Waits for a state that somebody else brings about, and soon leaves the processor to whoever that
/// is. Not from inside kernels and callbacks.
inline void await(const std::function<bool()>& holds) {
  if (simulated()) return playing->wait_until(holds);
  for (int looks = 1; !holds(); ++looks) {
    if (looks < 100) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

/// Time on a clock that the runtime's waits go by.
[[nodiscard]] inline std::chrono::nanoseconds time_now() {
  return simulated() ? playing->elapsed() : std::chrono::steady_clock::now().time_since_epoch();
}

/// A thread of the test's own: in a simulated run a client that takes turns. To be joined.
class test_thread {
public:
  explicit test_thread(std::function<void()> body) {
    if (simulated()) {
      client_ = playing->start_client("thread", std::move(body));
    } else {
      thread_ = std::thread(std::move(body));
    }
  }

  [[nodiscard]] bool joinable() const { return client_ || thread_.joinable(); }
  void join() {
    if (!client_) return thread_.join();
    auto ended = *std::exchange(client_, std::nullopt);
    ended.join();
  }

private:
  std::optional<testing::client> client_;
  std::thread thread_;
};

} // namespace troupe
