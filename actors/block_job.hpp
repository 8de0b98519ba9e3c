#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "actors/scheduling/completion.hpp"
#include "actors/user_scope.hpp"
#include "core/command.hpp"
#include "core/status.hpp"

namespace troupe {

/// The blocks of one launch, shared out between the engine that owns the launch and the engines
/// that help. Blocks are taken one by one in ascending order; after a failure or a stop no further
/// block begins.
class block_job {
public:
  /// `launch` stays alive and unmoved until `run_as_owner` has returned. `inside` describes the
  /// launch to calls made by blocks that helpers run; the owner is in a scope of its own.
  block_job(command& launch, stop_view stop, const user_scope::description& inside) noexcept
      : launch_(&launch), stop_(stop), count_(launch.blocks), inside_(inside) {}

  /// Runs blocks until none is left to take, then waits for the blocks that helpers run. Returns
  /// the first failure of a block, or success. Once, by the owner.
  [[nodiscard]] status run_as_owner();

  /// Runs blocks until none is left to take. A helper that comes late finds none and touches
  /// nothing of the launch. True if it was given up on meanwhile.
  [[nodiscard]] bool run_as_helper();

  /// Gives up on whoever is inside: no further block begins. Returns how many helpers are; each of
  /// them learns of it when it comes out after all.
  [[nodiscard]] std::size_t give_up();

  /// Whether all blocks are taken, or will be by the caller.
  [[nodiscard]] bool nearly_taken() const noexcept {
    return next_.load(std::memory_order_relaxed) + 1 >= count_;
  }

private:
  void take_blocks();

  command* const launch_;
  const stop_view stop_;
  const std::uint32_t count_;
  const user_scope::description inside_;
  std::atomic<std::uint64_t> next_ = 0; // beyond 32 bits, as everyone who looks counts it up
  std::atomic<bool> failed_ = false;
  completion helpers_left_;
  std::mutex guard_;
  std::size_t helpers_ = 0; // that are inside
  bool owner_waits_ = false; // for them; from then on to the end of the job
  bool given_up_ = false;
  status first_failure_;
};

/// Runs block `b` of `c`; whatever it throws becomes the failure: a `troupe::error` keeps its own
/// code, anything else is `fallback` with the exception's text.
[[nodiscard]] status invoke_guarded(command& c, const block& b, code fallback);

} // namespace troupe
