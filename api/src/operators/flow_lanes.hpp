#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "actors/stream_record.hpp"
#include "api/src/operators/flow_node.hpp"
#include "troupe/operators/tensor.hpp"
#include "troupe/stream.hpp"

namespace troupe::operators {

/// The streams of a dataflow, as many at each place. Nodes of one lane follow each other; those of
/// others by waits for tickets, of which none is made twice. One thread at a time.
class flow_lanes {
public:
  /// `streams` are those of the first place, then of the next.
  flow_lanes(std::vector<stream> streams, std::size_t places);

  /// Where at `place` a node that depends on `before` (ascending) goes: behind the latest of them that
  /// is the last of its lane, else to an idle lane, that used last first, else to the next one.
  [[nodiscard]] std::size_t choose(std::span<const std::shared_ptr<flow_node>> before,
                                   std::size_t place = 0);

  /// Submits `made` to its lane, behind `before`, and sets its `end`. Failures: those of
  /// submissions; what was submitted then are waits at most.
  status submit(const std::shared_ptr<flow_node>& made,
                std::span<const std::shared_ptr<flow_node>> before, call_site site);

  /// The same for a copy, which is a command of its own: the node behind it tells whether it succeeded.
  status submit_copy(const std::shared_ptr<flow_node>& made,
                     std::span<const std::shared_ptr<flow_node>> before, const tensor& from,
                     const tensor& to, call_site site);

  /// How many commands a node that depends on `before` would wait for at `place` though it does not
  /// depend on them: those of the shortest queue, or none behind the last node of a lane that it
  /// depends on.
  [[nodiscard]] std::uint64_t queue_at(std::size_t place,
                                       std::span<const std::shared_ptr<flow_node>> before) const;
  [[nodiscard]] std::size_t lanes_of_place() const noexcept { return each_; }

  [[nodiscard]] std::size_t size() const noexcept { return lanes_.size(); }
  [[nodiscard]] stream& at(std::size_t index) { return lanes_.at(index).line; }
  [[nodiscard]] stream_record& record(std::size_t index) const {
    return *lanes_.at(index).line.state()->record;
  }

private:
  struct lane {
    stream line;
    std::uint64_t last;              ///< number of its last node
    std::vector<std::uint64_t> seen; ///< of each lane: up to which number this one has waited
  };

  [[nodiscard]] std::optional<std::size_t> behind(
      std::span<const std::shared_ptr<flow_node>> before, std::size_t place) const;
  status wait_for(std::span<const std::shared_ptr<flow_node>> before, std::size_t index,
                  call_site site);
  status submit_step(const std::shared_ptr<flow_node>& made, call_site site);

  std::vector<lane> lanes_;
  std::size_t each_;              // lanes of a place
  std::vector<std::size_t> used_; // by place: the lane used last, from the place's first
};

} // namespace troupe::operators
