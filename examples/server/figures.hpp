#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "examples/server/answer.hpp"

namespace troupe::server {

/// What the server counts of itself. Written by any thread without a lock; each number is exact,
/// together they are not one instant.
struct figures {
  /// Upper bounds of the latency buckets, in microseconds; the last bucket has none.
  static constexpr std::array<std::int64_t, 12> bounds_us{100,    250,    500,    1'000,
                                                          2'500,  5'000,  10'000, 25'000,
                                                          50'000, 100'000, 250'000, 1'000'000};

  std::array<std::atomic<std::uint64_t>, verdict_count> requests{};
  std::array<std::atomic<std::uint64_t>, bounds_us.size() + 1> latency{}; ///< of answered ones
  std::atomic<std::int64_t> latency_sum_us{0};
  std::atomic<std::uint64_t> batches{0};
  std::atomic<std::uint64_t> batched_requests{0};
  std::atomic<std::uint64_t> retries{0};  ///< batches tried again after a failure of the device
  std::atomic<std::uint64_t> rebuilds{0}; ///< lanes that had to take a new context
  std::atomic<std::size_t> lanes_down{0}; ///< lanes that have no working context right now

  /// Counts a request that ended with `what` after `took`.
  void count(verdict what, std::chrono::microseconds took) noexcept {
    requests[static_cast<std::size_t>(what)].fetch_add(1, std::memory_order_relaxed);
    if (what != verdict::answered) return;
    std::size_t bucket = 0;
    while (bucket < bounds_us.size() && took.count() > bounds_us[bucket]) ++bucket;
    latency[bucket].fetch_add(1, std::memory_order_relaxed);
    latency_sum_us.fetch_add(took.count(), std::memory_order_relaxed);
  }
};

} // namespace troupe::server
