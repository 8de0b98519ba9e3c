#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <gsl/gsl>

#include "actors/ticket.hpp"
#include "core/access.hpp"
#include "core/call_site.hpp"
#include "core/graphs/graph_ir.hpp"
#include "core/graphs/graph_plan.hpp"
#include "core/status.hpp"

namespace troupe {

class context_record;
class stream_record;

/// A graph instantiated in a context. Its replays follow each other, whatever streams they are
/// launched on: a launch on another stream than the last waits for that one's ticket. It counts
/// against the device's limit of streams with as many as its width, at most `lanes_max`, until it
/// is destroyed. Any thread.
class executable {
public:
  static constexpr std::size_t lanes_max = 32;

  /// Failures: those of `validate`; 107000 naming the node whose memory does not lie in one block in
  /// use; 207005 at the device's limit of streams.
  [[nodiscard]] static result<std::shared_ptr<executable>> instantiate(
      std::shared_ptr<context_record> context, graph_ir graph);

  executable(std::shared_ptr<context_record> context, graph_ir graph,
             std::shared_ptr<graph_plan> plan);
  ~executable();
  executable(const executable&) = delete;
  executable& operator=(const executable&) = delete;

  [[nodiscard]] context_record& context() const noexcept { return *context_; }
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] std::uint64_t replays() const;
  [[nodiscard]] graph_ir content() const; ///< with the updates so far
  [[nodiscard]] std::size_t lanes() const noexcept { return lanes_; }

  /// Submits one replay to `target`, a stream of its context. Failures besides those of a
  /// submission: 107017 when destroyed, 107000 naming the node whose memory was freed, 107037 when
  /// an aborted replay has not returned yet.
  status launch(stream_record& target, call_site site);

  /// Other work of the same type for a node, in the sub-graph that `way` leads to.
  struct change {
    std::uint32_t node;
    std::shared_ptr<command> work;
    std::vector<graph_holder> way = {};
  };

  /// Makes the changes, from the next launch on: replays that were launched before keep what they
  /// had. After a failure all are as they were. Failures: 107017 when destroyed, those of
  /// `replace_work`, 107000 for memory that is not in use.
  status update(gsl::span<const change> changes);

  /// Ends it. 107037 while a replay has not ended, 107017 when it has been destroyed.
  status destroy();

private:
  [[nodiscard]] status destroyed_already() const;
  [[nodiscard]] bool running() const; // under the lock
  status replace(gsl::span<const change> changes); // under the lock
  void note_memory();
  [[nodiscard]] status check_memory(const timeline* user) const;
  status charge();
  void release() noexcept;

  const std::shared_ptr<context_record> context_;
  const std::uint64_t id_;
  const char* const label_; // the graph's name, kept for ever
  mutable std::mutex guard_;
  graph_ir graph_;
  std::shared_ptr<graph_plan> plan_;
  struct named_range {
    access_range range;
    const char* step;
  };
  std::vector<named_range> memory_; // what a launch looks up
  std::size_t lanes_ = 0;
  ticket last_; // no line before the first launch
  std::uint64_t replays_ = 0;
  bool charged_ = false;
  bool destroyed_ = false;
};

} // namespace troupe
