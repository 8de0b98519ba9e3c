#pragma once

#include <atomic>
#include <cstdint>

namespace troupe {

/// Tells a running kernel or callback that nobody wants its result any more. A kernel that may
/// run for long polls it and returns; the runtime never kills a thread. Any thread; one load.
class stop_view {
public:
  constexpr stop_view() noexcept = default;

  /// Watches `mark`: everything up to the number it holds has been told to stop.
  stop_view(const std::atomic<std::uint64_t>& mark, std::uint64_t number) noexcept
      : mark_(&mark), number_(number) {}

  [[nodiscard]] bool requested() const noexcept {
    return mark_ != nullptr && mark_->load(std::memory_order_relaxed) >= number_;
  }

private:
  const std::atomic<std::uint64_t>* mark_ = nullptr;
  std::uint64_t number_ = 0;
};

/// Which part of a launch this call is: block `index` of `count`. Blocks of one launch run in any
/// order and in parallel over the device's cores, so they must write disjoint data.
struct block {
  std::uint32_t index = 0;
  std::uint32_t count = 1;
  stop_view stop;

  /// True once the stream was aborted or destroyed by force, its context failed in stop mode or was
  /// destroyed, its device was lost, or the runtime shuts down.
  [[nodiscard]] bool stop_requested() const noexcept { return stop.requested(); }
};

} // namespace troupe
