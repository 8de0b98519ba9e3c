#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace troupe {

/// How many events of one context count against the limit of its device: each until it is taken
/// off, and none any more once the context has ended. Any thread.
class event_count {
public:
  explicit event_count(std::shared_ptr<std::atomic<std::size_t>> of_device) noexcept
      : of_device_(std::move(of_device)) {}

  /// Counts one that the device counts already; false if the context has ended.
  [[nodiscard]] bool add() noexcept {
    if ((own_.fetch_add(1) & ended) == 0) return true;
    own_.fetch_sub(1);
    return false;
  }
  void take_off() noexcept {
    if ((own_.fetch_sub(1) & ended) == 0) of_device_->fetch_sub(1);
  }

  /// The context ends.
  void end() noexcept {
    const auto before = own_.fetch_or(ended);
    if ((before & ended) == 0) of_device_->fetch_sub(before);
  }

private:
  static constexpr std::uint64_t ended = std::uint64_t{1} << 63;

  const std::shared_ptr<std::atomic<std::size_t>> of_device_; // which may be gone before this
  std::atomic<std::uint64_t> own_ = 0;
};

} // namespace troupe
