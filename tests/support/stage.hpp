#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/playing.hpp"
#include "tests/support/status_matchers.hpp"
#include "troupe/troupe.hpp"

namespace troupe {

/// Threads of each kind for this run of the suite: the behaviours hold with one as with many.
inline unsigned test_workers() {
  const char* text = std::getenv("TROUPE_TEST_WORKERS");
  return text == nullptr ? 2U : static_cast<unsigned>(std::stoul(text));
}

/// A small device, so that its limits are near.
inline device_profile small_profile() {
  device_profile made;
  made.name = "test device";
  made.memory_bytes = std::uint64_t{256} << 20;
  return made;
}

/// Options of a runtime with `devices` small devices and `test_workers()` threads.
inline runtime_options test_options(std::size_t devices = 2) {
  runtime_options made;
  made.devices.assign(devices, small_profile());
  made.control_workers = test_workers();
  made.compute_threads = test_workers();
  made.stop_bound_ms = 200;
  return made;
}

/// A door that host code opens: kernels, callbacks and threads wait in front of it; in a simulated
/// run threads only. To hold back a stream without taking an engine use a `signal`.
class gate {
public:
  void open() {
    const std::lock_guard lock(guard_);
    open_ = true;
    moved_.notify_all();
  }
  void pass() {
    std::unique_lock lock(guard_);
    ++arrived_;
    moved_.notify_all();
    wait(lock, [this] { return open_; });
  }
  /// Returns once `count` callers have come to the gate.
  void await_arrivals(std::size_t count = 1) {
    std::unique_lock lock(guard_);
    wait(lock, [this, count] { return arrived_ >= count; });
  }

private:
  void wait(std::unique_lock<std::mutex>& lock, const std::function<bool()>& holds) {
    if (!simulated()) return moved_.wait(lock, holds);
    lock.unlock(); // one thread at a time runs anyway
    await(holds);
  }

  std::mutex guard_;
  std::condition_variable moved_;
  bool open_ = false;
  std::size_t arrived_ = 0;
};

/// One runtime, device 0 of it, a context and a stream there.
class stage_test : public ::testing::Test {
protected:
  explicit stage_test(runtime_options options = test_options())
      : rt(make_runtime(std::move(options))) {}

  runtime rt;
  device dev = rt.device(0).value();
  context ctx = dev.create_context().value();
  stream s = ctx.create_stream().value();
};

} // namespace troupe
