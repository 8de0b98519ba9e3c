#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/command.hpp"
#include "core/graphs/graph_plan.hpp"
#include "core/status.hpp"

namespace troupe {

/// One run of a plan, as a command of a stream: how far it has come. Belongs to whoever holds the
/// stream's grant. A callback among its steps runs on a callback engine: the grant goes there and
/// back, and the replay goes on where it was.
class graph_replay {
public:
  /// The `ordinal`-th replay, from 1, of what was instantiated.
  graph_replay(std::shared_ptr<graph_plan> plan, std::uint64_t ordinal) noexcept
      : plan_(std::move(plan)), ordinal_(ordinal) {}

  [[nodiscard]] const graph_plan& plan() const noexcept { return *plan_; }
  [[nodiscard]] std::uint64_t ordinal() const noexcept { return ordinal_; }

  /// Notes for later replays whether this one was worth sharing between engines.
  void note_length(bool lasts) noexcept { plan_->lasts.store(lasts, std::memory_order_relaxed); }

  /// Whether no step has been looked at yet; then the counts of an earlier replay are put back.
  [[nodiscard]] bool begin() noexcept;

  /// The step to run next, after the turns on the way; null at the end.
  [[nodiscard]] command* step() noexcept;
  void advance() noexcept { ++at_; }

  /// The place of `step()` among all that ran so far, from 1: what a fault names it by.
  [[nodiscard]] std::uint64_t place() const noexcept { return at_ + 1; }

  /// Whether the step is looked at for the first time since `advance`: what befalls it is decided
  /// once, however often an engine takes it up.
  [[nodiscard]] bool begins_first() noexcept;

  /// Runs the steps that need nothing but this thread, as many as follow each other: kernels of one
  /// block and small copies; up to a callback, a launch of several blocks, a stop, a failure or the
  /// end. Exceptions of kernels become failures.
  /// Adds the kernels that ran to `kernels`.
  [[nodiscard]] status run_ahead(const stop_view& stop, std::uint64_t& kernels);

  /// Runs the steps from `begin` to before `end` on this thread alone, all blocks and chunks of
  /// each, up to a stop or a failure, which names its node. For plans without callbacks; several
  /// threads may run parts that have no step in common. Adds the kernels that ran to `kernels`.
  [[nodiscard]] status run_range(std::size_t begin, std::size_t end, const stop_view& stop,
                                 std::uint64_t& kernels);

  /// The failure of step `step()`, which ended with `why`: it names graph, replay and node.
  [[nodiscard]] status failure_of(const status& why) const { return failure_of(at_, why); }

private:
  [[nodiscard]] std::size_t after_turn(std::size_t at) const noexcept;
  [[nodiscard]] status failure_of(std::size_t at, const status& why) const;

  const std::shared_ptr<graph_plan> plan_;
  const std::uint64_t ordinal_;
  std::size_t at_ = 0;
  std::size_t looked_at_ = SIZE_MAX;
  bool first_look_ = false;
  bool begun_ = false;
};

/// Payload of the command that replays a graph.
struct graph_payload {
  std::shared_ptr<graph_replay> replay;

  /// Never asked: engines run the steps. It tells that ending the payload may end user code.
  static status invoke(void* payload, const block& b);
  static void ranges(const void* payload, const access_sink& sink);
};

inline constexpr operation graph_ops = make_runnable<graph_payload>();

[[nodiscard]] inline bool is_graph(const command& c) noexcept { return c.op == &graph_ops; }

} // namespace troupe
