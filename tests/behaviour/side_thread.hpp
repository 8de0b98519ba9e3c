#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "actors/stream_record.hpp"
#include "tests/support/stage.hpp"

namespace troupe {

/// Options for tests that abort work which ends soon: no engine is given up on because the machine
/// is slow.
inline runtime_options patient_options(std::size_t devices = 2) {
  auto made = test_options(devices);
  made.stop_bound_ms = 30'000;
  return made;
}

/// A second thread that makes one call, which is expected to wait. Joined by the destructor:
/// whatever it waits for must have come by then.
class side_thread {
public:
  explicit side_thread(std::function<status()> call)
      : thread_([this, run = std::move(call)] {
          outcome_ = run();
          ended_.store(true);
        }) {}
  ~side_thread() {
    if (thread_.joinable()) thread_.join();
  }
  side_thread(const side_thread&) = delete;
  side_thread& operator=(const side_thread&) = delete;

  /// Whether the call has returned.
  [[nodiscard]] bool ended() const { return ended_.load(); }

  /// Returns true once the call waits for `s`, false if it returned instead.
  [[nodiscard]] bool waits_for(const stream& s) const {
    const auto& line = *s.state()->record->line();
    await([&] { return ended() || line.awaited(); });
    return !ended();
  }

  /// Waits for the call to end; what it returned.
  status join() {
    thread_.join();
    return outcome_;
  }

private:
  std::atomic<bool> ended_ = false;
  status outcome_;
  test_thread thread_; // last: it uses the others
};

} // namespace troupe
