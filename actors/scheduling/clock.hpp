#pragma once

#include <chrono>
#include <cstdint>

namespace troupe {

/// A point in device time or a length of it, in nanoseconds. Only differences mean anything.
using time_ns = std::int64_t;

/// No deadline.
inline constexpr time_ns never_ns = INT64_MAX;

/// The one source of time of a runtime. Everything that needs "now" asks this, so that a
/// simulation can put its virtual clock here. Any thread.
class clock {
public:
  virtual ~clock() = default;

  [[nodiscard]] virtual time_ns now() const noexcept = 0;
};

/// The machine's steady clock.
class steady_clock final : public clock {
public:
  [[nodiscard]] time_ns now() const noexcept override;
};

/// The steady time point that `at` stands for; for timed sleeps of the live scheduler only.
[[nodiscard]] std::chrono::steady_clock::time_point to_steady(time_ns at) noexcept;

/// `now` plus `length`, which stays `never_ns` when either has no end.
[[nodiscard]] constexpr time_ns after(time_ns now, time_ns length) noexcept {
  return length >= never_ns - now ? never_ns : now + length;
}

} // namespace troupe
