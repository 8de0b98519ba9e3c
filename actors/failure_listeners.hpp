#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

#include "core/error_record.hpp"
#include "core/status.hpp"

namespace troupe {

/// Called with the record of each task that fails: code, device, context, stream, task, thread.
using failure_listener = std::function<void(const error_record&)>;

/// Who wants to be told of failed tasks, and how many notices are on their way. Any thread.
class failure_listeners {
public:
  static constexpr std::size_t listeners_max = 16;
  static constexpr std::uint64_t pending_max = 1024;

  /// The number to take the listener away with. 100000 for a null one, 207012 at the limit.
  [[nodiscard]] result<std::uint64_t> add(failure_listener listener);

  /// It is called no more, but one call may be under way. 107017 for a number not in use.
  [[nodiscard]] status remove(std::uint64_t number);

  [[nodiscard]] bool any() const noexcept { return count_.load(std::memory_order_acquire) != 0; }

  /// Counts a notice that is about to be sent; false at the limit, where it is missed.
  [[nodiscard]] bool begin_notice() noexcept;

  /// It has come to the listeners, or will not.
  void end_notice() noexcept { pending_.fetch_sub(1); }
  [[nodiscard]] std::uint64_t missed() const noexcept { return missed_.load(); }

  /// Calls each under no lock, inside user code's scope; what one throws is ignored.
  void tell(const error_record& failure);

private:
  std::atomic<std::size_t> count_ = 0;
  std::atomic<std::uint64_t> pending_ = 0;
  std::atomic<std::uint64_t> missed_ = 0;
  std::mutex guard_; // of all below
  std::map<std::uint64_t, failure_listener> all_;
  std::uint64_t last_ = 0;
};

} // namespace troupe
