#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <acl/acl_mdl.h>

#include "core/status.hpp"
#include "troupe/buffer.hpp"
#include "troupe/graph.hpp"
#include "troupe/stream.hpp"

namespace troupe::acl {

class graph_object;

/// What a condition's handle (aclmdlRICondHandle) stands for: a value in device memory by which a
/// graph decides.
struct condition_object {
  std::weak_ptr<graph_object> whose;
  buffer<std::uint64_t> value;
  std::optional<std::uint64_t> at_start;  ///< of each run; else it is what it was
};

/// How a value chooses among the branches of one place in a graph, as last decided: one flag each.
struct decision {
  aclmdlRICondTaskType how;
  std::vector<std::uint32_t> flags;

  void take(std::uint64_t value) noexcept;
};

/// The conditions and branches of one graph that is being captured. Each branch has a place among
/// the nodes, empty at first, where it goes when the capture ends. Any thread.
class conditions {
 public:
  using branches = std::vector<std::shared_ptr<graph_object>>;

  /// `by` lives as long as this.
  void add_value(std::shared_ptr<condition_object> by);

  /// Has `line` decide by `by` here, and keeps places for `all`. Failures: those of a launch.
  status add_branches(stream& line, aclmdlRICondTaskType how,
                      const std::shared_ptr<condition_object>& by, const branches& all);

  /// 107026 when a branch has not been captured.
  [[nodiscard]] status check_captured() const;

  /// `captured` with each branch in its place. Failures: 107000 for a branch with memory of another
  /// context, and branches too deep within each other.
  [[nodiscard]] result<graph> put_into(const graph& captured) const;

 private:
  struct place {
    std::string name;  ///< of the empty node
    std::shared_ptr<condition_object> by;
    std::shared_ptr<decision> made;
    std::size_t flag;
    std::shared_ptr<graph_object> branch;
  };

  [[nodiscard]] const place* place_named(const std::string& name) const;
  [[nodiscard]] static result<graph_node> filled(const place& where, std::uint64_t context);

  mutable std::mutex guard_;
  std::vector<std::shared_ptr<condition_object>> values_;
  std::vector<place> places_;
};

}  // namespace troupe::acl
