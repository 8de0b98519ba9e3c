#include "actors/scheduling/clock.hpp"

namespace troupe {

time_ns steady_clock::now() const noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::chrono::steady_clock::time_point to_steady(time_ns at) noexcept {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(at));
}

} // namespace troupe
