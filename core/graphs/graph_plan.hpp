#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gsl/gsl>

#include "core/command.hpp"
#include "core/graphs/graph_ir.hpp"

namespace troupe {

/// A turn in the order of a plan's steps. `left` belongs to the replay that runs.
struct turn_payload {
  enum class kind : std::uint8_t {
    skip_if_zero, ///< goes to `target` if the condition is zero
    jump,         ///< goes to `target`
    begin_repeat, ///< sets the count of the step before `target`; goes to `target` if it is 0
    next_repeat,  ///< counts down; goes to `target` unless that was the last
  };
  kind what;
  std::uint32_t target = 0;
  std::uint32_t times = 0;
  std::uint32_t left = 0;
  const std::uint32_t* condition = nullptr;
};

/// A graph made ready to run: its steps in one array of commands in an order that honours all
/// dependencies, payloads beside their headers, so that a replay walks memory from front to back.
///
/// A *segment* is a run of steps that only follow each other. Within one, no counter and no
/// hand-over is needed; where segments meet, `needs` says how many must have ended.
///
/// Immutable but for what belongs to the replay that runs (progress of copies, counts of repeats):
/// replays of one plan never overlap. What holds a plan keeps all that its work captured.
class graph_plan {
public:
  struct segment {
    std::uint32_t begin; ///< steps from here
    std::uint32_t end;   ///< to before here
    std::uint32_t needs; ///< segments that must have ended
    std::vector<std::uint32_t> next;
  };

  /// `graph` must be valid.
  explicit graph_plan(const graph_ir& graph);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::vector<command>& steps() noexcept { return steps_; }
  [[nodiscard]] const std::vector<command>& steps() const noexcept { return steps_; }
  [[nodiscard]] const std::vector<segment>& segments() const noexcept { return segments_; }

  /// The node of the graph that step `index` is of, by its place there; of a sub-graph's step that
  /// of the outermost.
  [[nodiscard]] std::uint32_t node_of(std::size_t index) const noexcept { return nodes_[index]; }

  /// How many of its segments may run at the same time: the most that are equally far from the
  /// beginning.
  [[nodiscard]] std::size_t width() const noexcept { return width_; }

  /// Whether several engines may run its segments: it is wider than one and calls nobody back.
  [[nodiscard]] bool shareable() const noexcept { return shareable_; }

  /// Whether the last replay took long enough for other engines to come and help from the start.
  std::atomic<bool> lasts = false;

  /// Puts other work of the same type into the step of `node`, while no replay runs. `way` leads to
  /// the sub-graph that it is a node of, from the outermost holder.
  void replace(std::uint32_t node, const std::shared_ptr<command>& work,
               gsl::span<const graph_holder> way = {});

  /// Whether `step` is a turn and not work.
  [[nodiscard]] static bool is_turn(const command& step) noexcept {
    return step.op == &carried<turn_payload>::ops;
  }

private:
  using node_path = std::vector<std::uint32_t>; // the holders, from the outermost, and the node
  void append(const graph_node& node, node_path& path, const std::string& prefix);
  void append_body(const graph_node& node, node_path& path, const std::string& prefix);
  std::uint32_t add_turn(turn_payload turn, std::uint32_t outermost);
  void cut(const graph_ir& graph, const std::vector<std::uint32_t>& order,
           const std::vector<std::uint32_t>& starts);
  void measure_width();

  std::string name_;
  std::vector<command> steps_;
  std::vector<std::uint32_t> nodes_;
  std::map<node_path, std::size_t> inner_steps_; // the step of each node of a sub-graph
  std::map<std::size_t, std::shared_ptr<command>> lent_; // by step: work that the step borrows from
  std::vector<segment> segments_;
  std::size_t width_ = 0;
  bool shareable_ = false;
};

} // namespace troupe
