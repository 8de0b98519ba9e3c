#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "actors/scheduling/completion.hpp"
#include "core/command.hpp"
#include "core/status.hpp"

namespace troupe {

/// The blocks of one launch, shared out between the engine that owns the launch and the engines
/// that help. Blocks are taken one by one in ascending order; after a failure or a stop no further
/// block begins.
class block_job {
public:
  /// `launch` stays alive and unmoved until `run_as_owner` has returned.
  block_job(command& launch, stop_view stop) noexcept
      : launch_(&launch), stop_(stop), count_(launch.blocks) {}

  /// Runs blocks until none is left to take, then waits for the blocks that helpers run. Returns
  /// the first failure of a block, or success. Once, by the owner.
  [[nodiscard]] status run_as_owner();

  /// Runs blocks until none is left to take. A helper that comes late finds none and touches
  /// nothing of the launch.
  void run_as_helper();

  /// Whether all blocks are taken, or will be by the caller.
  [[nodiscard]] bool nearly_taken() const noexcept {
    return next_.load(std::memory_order_relaxed) + 1 >= count_;
  }

private:
  void take_blocks();
  bool leave() noexcept;

  command* const launch_;
  const stop_view stop_;
  const std::uint32_t count_;
  std::atomic<std::uint64_t> next_ = 0; // beyond 32 bits, as everyone who looks counts it up
  std::atomic<std::uint32_t> working_ = 1; // the owner counts from the start
  std::atomic<bool> failed_ = false;
  completion helpers_left_;
  std::mutex guard_;
  status first_failure_;
};

/// Runs block `b` of `c`; whatever it throws becomes the failure: a `troupe::error` keeps its own
/// code, anything else is `fallback` with the exception's text.
[[nodiscard]] status invoke_guarded(command& c, const block& b, code fallback);

} // namespace troupe
