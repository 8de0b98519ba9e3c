#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "actors/stream_record.hpp"
#include "api/src/operators/flow_node.hpp"
#include "troupe/stream.hpp"

namespace troupe::operators {

/// The streams of a dataflow. Nodes of one lane follow each other; those of others by waits for
/// tickets, of which none is made twice. One thread at a time.
class flow_lanes {
public:
  explicit flow_lanes(std::vector<stream> streams);

  /// Where a node that depends on `before` (ascending) goes: behind the latest of them that is the
  /// last of its lane, else to an idle lane, that used last first, else to the next one.
  [[nodiscard]] std::size_t choose(std::span<const std::shared_ptr<flow_node>> before);

  /// Submits `made` to its lane, behind `before`, and sets its `end`. Failures: those of
  /// submissions; what was submitted then are waits at most.
  status submit(const std::shared_ptr<flow_node>& made,
                std::span<const std::shared_ptr<flow_node>> before, call_site site);

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

  std::vector<lane> lanes_;
  std::size_t used_ = 0;
};

} // namespace troupe::operators
