#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "core/command.hpp"
#include "core/graphs/graph_ir.hpp"
#include "core/graphs/memory_plan.hpp"
#include "core/status.hpp"

namespace troupe {

/// Where the private ranges of a graph and of its sub-graphs lie in one block.
struct private_layout {
  std::vector<std::uint64_t> offsets;            ///< by range; that of one nobody uses is 0
  std::map<std::uint32_t, std::uint64_t> bodies; ///< where each sub-graph's part begins, by node
  std::map<std::uint32_t, private_layout> inner; ///< what lies in it, from there
  std::uint64_t peak_bytes = 0;                  ///< of the block
  std::uint64_t total_bytes = 0;                 ///< what it would be without reuse
};

/// The memory of a graph that only its own nodes use: ranges known by number, the nodes that name
/// them, and how those nodes' work is made once it is known where the ranges lie. It goes with one
/// `graph_ir`, whose node numbers it has. A value; one thread at a time.
class private_memory {
public:
  /// Makes the work of a node from the address of each range, by number.
  using binder = std::function<std::shared_ptr<command>(const std::vector<std::byte*>&)>;

  /// Adds a range of `bytes` (not 0) and returns its number.
  std::uint32_t add(std::uint64_t bytes);

  [[nodiscard]] std::size_t ranges() const noexcept { return ranges_.size(); }

  /// `node` names `ranges`, and `make` makes its work.
  void use(std::uint32_t node, std::vector<std::uint32_t> ranges, binder make);

  /// No user of `range` comes after `node`, and nothing else lies there before it: what it was
  /// given up for. 107000 if another node frees it.
  status end(std::uint32_t range, std::uint32_t node);

  /// The sub-graph in `node` has this private memory of its own.
  void nest(std::uint32_t node, private_memory body);

  [[nodiscard]] bool names(std::uint32_t node, std::uint32_t range) const;

  /// That of the sub-graph in `node`; null if it has none.
  [[nodiscard]] const private_memory* nested(std::uint32_t node) const;

  /// Places all ranges, those of sub-graphs as one that only their node uses. Failures: those of
  /// `plan_memory`; 107000 for a user that is not before the node that frees its range.
  [[nodiscard]] result<private_layout> plan(const graph_ir& graph) const;

  /// The addresses of the ranges in `block`, as a `binder` takes them.
  [[nodiscard]] static std::vector<std::byte*> addresses(const private_layout& where,
                                                         std::byte* block);

  /// The graph with its work made for ranges in `block`, of `where.peak_bytes` at a multiple of
  /// 64.
  [[nodiscard]] graph_ir bind(const graph_ir& graph, const private_layout& where,
                              std::byte* block) const;

private:
  static constexpr std::uint32_t nobody = UINT32_MAX;

  [[nodiscard]] status check_ends(const graph_ir& graph) const;

  struct placeable {
    std::uint64_t bytes = 0;
    std::vector<std::uint32_t> users;
    std::uint32_t freed_by = nobody;
  };
  std::vector<placeable> ranges_;
  std::map<std::uint32_t, binder> binders_;
  std::map<std::uint32_t, private_memory> bodies_;
};

} // namespace troupe
