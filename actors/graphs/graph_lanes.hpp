#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "actors/graphs/graph_replay.hpp"
#include "core/block.hpp"
#include "core/command.hpp"
#include "core/status.hpp"

namespace troupe {

/// One replay of a plan whose segments several engines run at the same time. Each engine runs a
/// *lane*: it takes segments that are ready, and goes on with one that it makes ready itself. So a
/// chain never changes hands, and counters are touched only where segments meet. Any thread.
class graph_lanes {
public:
  /// `replay`, which outlives this; the first `ended` segments of its plan have been run.
  graph_lanes(graph_replay& replay, std::uint32_t ended);

  /// Runs segments until all have ended or none is to be had, or a stop. The failure names its node;
  /// lanes that run beside end as well.
  [[nodiscard]] status run(const stop_view& stop);

  /// That have run in lanes which have ended.
  [[nodiscard]] std::uint64_t kernels() const noexcept {
    return kernels_.load(std::memory_order_relaxed);
  }

private:
  static constexpr std::uint32_t none = UINT32_MAX;

  struct hand {
    std::uint32_t at = 0; // places of the ready list that are this lane's, not run yet
    std::uint32_t end = 0;
    std::uint32_t done = 0; // segments ended and not yet counted
  };
  [[nodiscard]] std::uint32_t take(hand& mine);
  void push(std::uint32_t segment) noexcept;
  [[nodiscard]] std::uint32_t follow(std::uint32_t segment) noexcept;
  [[nodiscard]] status run_segment(std::uint32_t segment, const stop_view& stop,
                                   std::uint64_t& kernels);
  void settle(hand& mine) noexcept;
  [[nodiscard]] bool unfinished() const noexcept {
    return left_.load(std::memory_order_acquire) != 0 && !failed_.load(std::memory_order_relaxed);
  }

  graph_replay& replay_;
  const std::vector<graph_plan::segment>& segments_;
  std::vector<std::atomic<std::uint32_t>> needs_;
  std::vector<std::atomic<std::uint32_t>> ready_; // each segment gets into it once; `none`: not yet
  alignas(64) std::atomic<std::uint32_t> taken_ = 0;
  alignas(64) std::atomic<std::uint32_t> pushed_ = 0;
  alignas(64) std::atomic<std::uint32_t> left_;
  std::atomic<bool> failed_ = false;
  std::atomic<std::uint64_t> kernels_ = 0;
};

} // namespace troupe
