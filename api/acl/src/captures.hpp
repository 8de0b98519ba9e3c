#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "api/acl/src/conditions.hpp"
#include "api/acl/src/handle_table.hpp"
#include "core/status.hpp"
#include "troupe/capture.hpp"
#include "troupe/graph.hpp"

namespace troupe::acl {

/// What a graph's handle (aclmdlRI) stands for: a name while its capture goes on, then what was
/// captured, ready to run. A branch of another graph is a name until it is captured on its own, and
/// runs as part of the other. Any thread.
class graph_object {
 public:
  enum class part : unsigned char { whole, branch };

  explicit graph_object(part what = part::whole) noexcept : part_(what) {}
  ~graph_object();
  graph_object(const graph_object&) = delete;
  graph_object& operator=(const graph_object&) = delete;

  [[nodiscard]] bool is_branch() const noexcept { return part_ == part::branch; }
  [[nodiscard]] bool captured() const;

  /// The capture has ended. `run` is empty for a branch.
  void fill(graph content, executable_graph run);

  /// Throw 107026 while the capture goes on; `run` also 107000 for a branch.
  [[nodiscard]] graph content() const;
  [[nodiscard]] executable_graph run() const;

  /// The object of `handle` ends with this.
  void own(handle_kind kind, void* handle);

  /// What its capture has of conditions.
  [[nodiscard]] conditions& decisions() noexcept { return decisions_; }

 private:
  const part part_;
  mutable std::mutex guard_;
  std::vector<std::pair<handle_kind, void*>> owned_;
  conditions decisions_;
  std::optional<std::pair<graph, executable_graph>> captured_;
};

/// Throws 107017.
[[nodiscard]] std::shared_ptr<graph_object> find_graph(void* handle);

/// The mode that a program names; 100000 for a number that names none.
[[nodiscard]] result<capturing::mode> capture_mode_of(const char* call, aclmdlRICaptureMode mode);

/// Captures in progress, by the handles that their graphs are going to have. Any thread.
class captures {
 public:
  /// `capturing::begin`; the graph has a handle from now on.
  status begin(const stream& origin, capturing::mode how);

  /// The same for a branch, whose handle is known. 107000 for what is none, or has been captured.
  status begin_branch(const stream& origin, capturing::mode how, void* handle);

  /// `capturing::end`, and what was captured made ready to run in `where`; the graph's handle, which
  /// is valid no more after a failure that ends the capture, unless it is a branch's. Also 107026,
  /// with nothing changed, when a branch of it has not been captured.
  [[nodiscard]] result<void*> end(const stream& origin, const context& where);

  /// The graph that `which` is captured into, and its handle; null for none.
  [[nodiscard]] std::shared_ptr<graph_object> object_of(const stream& which) const;
  [[nodiscard]] void* graph_of(const stream& which) const;

  [[nodiscard]] static captures& instance();

 private:
  struct entry {
    stream origin;
    void* handle;
    std::shared_ptr<graph_object> object;
  };
  static void drop(const entry& which);
  void forget_ended();
  status begin_as(const stream& origin, capturing::mode how, void* handle);

  mutable std::mutex guard_;
  std::map<std::uint64_t, entry> by_id_;  // of the capture
};

}  // namespace troupe::acl
