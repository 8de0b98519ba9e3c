#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "api/acl/src/handle_table.hpp"
#include "core/status.hpp"
#include "troupe/capture.hpp"
#include "troupe/graph.hpp"

namespace troupe::acl {

/// What a graph's handle (aclmdlRI) stands for: a name while its capture goes on, then what was
/// captured, ready to run. Any thread.
class graph_object {
 public:
  /// The capture has ended.
  void fill(graph content, executable_graph run);

  /// Throw 107026 while the capture goes on.
  [[nodiscard]] graph content() const;
  [[nodiscard]] executable_graph run() const;

  /// `group`, a handle, ends with this.
  void own(void* group);
  ~graph_object();
  graph_object() = default;
  graph_object(const graph_object&) = delete;
  graph_object& operator=(const graph_object&) = delete;

 private:
  mutable std::mutex guard_;
  std::vector<void*> groups_;
  std::optional<std::pair<graph, executable_graph>> captured_;
};

/// Throws 107017.
[[nodiscard]] std::shared_ptr<graph_object> find_graph(void* handle);

/// Captures in progress, by the handles that their graphs are going to have. Any thread.
class captures {
 public:
  /// `capturing::begin`; the graph has a handle from now on.
  status begin(const stream& origin, capturing::mode how);

  /// `capturing::end`, and what was captured made ready to run in `where`; the graph's handle, which
  /// is valid no more after a failure that ends the capture.
  [[nodiscard]] result<void*> end(const stream& origin, const context& where);

  /// The handle of the graph that `which` is captured into; null for none.
  [[nodiscard]] void* graph_of(const stream& which) const;

  [[nodiscard]] static captures& instance();

 private:
  struct entry {
    stream origin;
    void* handle;
  };
  void forget_ended();

  mutable std::mutex guard_;
  std::map<std::uint64_t, entry> by_id_;  // of the capture
};

}  // namespace troupe::acl
