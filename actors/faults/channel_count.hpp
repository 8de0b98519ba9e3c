#pragma once

#include <atomic>
#include <cstdint>

namespace troupe {

/// What has passed on one channel where faults may strike, so that each has its number there. It
/// lies with the party that the channel belongs to, and ends with it. Any thread.
class channel_count {
public:
  /// The number of what passes now, from 1.
  [[nodiscard]] std::uint64_t next() noexcept {
    return passed_.fetch_add(1, std::memory_order_relaxed) + 1;
  }

private:
  std::atomic<std::uint64_t> passed_ = 0;
};

} // namespace troupe
