#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <shared_mutex>

#include "core/status.hpp"

namespace troupe {

/// Ordinary host memory that a program has made known: copies with it return at once, as with pinned
/// memory, and it is the program's duty to keep it until they have run. Any thread; a process that
/// registers nothing pays one load for each look.
class host_registrations {
public:
  static constexpr std::size_t ranges_max = 65'536;

  /// Failures, after which nothing has changed: 107000 when some of it is registered already or it
  /// goes beyond the end of all addresses; 207012 at `ranges_max`.
  [[nodiscard]] status add(const void* address, std::size_t bytes);

  /// Forgets the range that begins at `address`. 107000 when none does.
  [[nodiscard]] status remove(const void* address);

  /// Whether `address` is in a registered range.
  [[nodiscard]] bool contains(const void* address) const noexcept {
    return count_.load(std::memory_order_acquire) != 0 && find(address) != 0;
  }

  /// Success, or 107000 when [address, address + bytes), which begins in a registered range, leaves
  /// it.
  [[nodiscard]] status check(const void* address, std::size_t bytes) const;

private:
  [[nodiscard]] std::size_t find(const void* address) const noexcept;

  std::atomic<std::size_t> count_ = 0;
  mutable std::shared_mutex guard_;
  std::map<std::uint64_t, std::size_t> ranges_; // bytes by address
};

} // namespace troupe
