#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gsl/gsl>

#include "core/command.hpp"
#include "core/graphs/node_description.hpp"
#include "core/status.hpp"

namespace troupe {

class graph_ir;

/// What a node of a graph is.
enum class node_kind : std::uint8_t {
  work,    ///< a command: kernel, copy, fill or host callback
  empty,   ///< nothing: a point where dependencies meet
  inlined, ///< a sub-graph that runs in its place
  when,    ///< a sub-graph that runs if the condition is not zero
  loop,    ///< a sub-graph that runs again as long as the condition is not zero
  repeat,  ///< a sub-graph that runs a stated number of times
};

[[nodiscard]] const char* to_string(node_kind kind) noexcept;

/// One node. Its `work` is shared by every graph and plan made of it and is never changed.
struct graph_node {
  std::string name;
  node_kind kind = node_kind::empty;
  std::shared_ptr<command> work;            ///< of `work` only
  std::shared_ptr<const graph_ir> body;     ///< of sub-graphs, with their own node numbers
  std::uint64_t body_id = 0; ///< which graph `body` is a copy of, for whom its nodes are; 0: nobody
  const std::uint32_t* condition = nullptr; ///< of `when` and `loop`; read when the node is reached
  std::uint32_t times = 0;                  ///< of `repeat`
  std::optional<node_description> what; ///< for passes; the runtime does not read it
  std::vector<std::uint32_t> after;         ///< the nodes that must have ended, ascending
};

/// A step on the way to a node of a sub-graph: the node that holds that, and which graph its `body`
/// is a copy of.
struct graph_holder {
  std::uint32_t node;
  std::uint64_t body_id;
};

/// A graph as a value: nodes and the order between them. A node is known by its index. Copies are
/// cheap and independent but for the work itself. One thread at a time.
class graph_ir {
public:
  static constexpr std::size_t nodes_max = std::size_t{1} << 20;
  static constexpr std::size_t depth_max = 32; ///< sub-graphs within each other

  explicit graph_ir(std::string name = "graph") : name_(std::move(name)) {}

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::vector<graph_node>& nodes() const noexcept { return nodes_; }
  [[nodiscard]] std::size_t edges() const noexcept { return edges_; }

  /// Adds a node, whose `after` is ignored, and returns its index. Failures: 207012 at `nodes_max`;
  /// 107000 for work that is null, a sub-graph that is null, has a failing `validate` or lies
  /// deeper than `depth_max`, or a null condition.
  result<std::uint32_t> add(graph_node node);

  /// `later` begins after `earlier` has ended; naming an edge again changes nothing. 107000 for a
  /// node that is not there, or one that would follow itself.
  status depend(std::uint32_t earlier, std::uint32_t later);

  /// Puts other work into a node that has work of the same kind and type, in the graph that `way`
  /// leads to, from the outermost. Else 107000.
  status replace_work(std::uint32_t node, std::shared_ptr<command> work,
                      gsl::span<const graph_holder> way = {});

  /// The graph that `way` leads to. 107000 for a node that is not there or holds another graph.
  [[nodiscard]] result<const graph_ir*> inner(gsl::span<const graph_holder> way) const;

  void describe(std::uint32_t node, node_description what);

  /// Success, or 107000 with the nodes of one cycle by name, in order.
  [[nodiscard]] status validate() const;

  /// An order in which every node follows what it depends on: chains are kept together, else the
  /// lowest index first. For valid graphs.
  [[nodiscard]] std::vector<std::uint32_t> topological_order() const;

  /// How deep sub-graphs lie within each other; 1 for a graph without.
  [[nodiscard]] std::size_t depth() const noexcept { return depth_; }

private:
  [[nodiscard]] status no_such_node(std::uint32_t index) const;
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> followers() const;

  std::string name_;
  std::vector<graph_node> nodes_;
  std::size_t edges_ = 0;
  std::size_t depth_ = 1;
};

} // namespace troupe
