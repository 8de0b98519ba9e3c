#include "api/src/operators/flow_lanes.hpp"

#include <utility>

#include "actors/payloads.hpp"

namespace troupe::operators {

flow_lanes::flow_lanes(std::vector<stream> streams) {
  for (auto& each : streams) {
    lanes_.push_back({std::move(each), 0, std::vector<std::uint64_t>(streams.size(), 0)});
  }
}

std::size_t flow_lanes::choose(std::span<const std::shared_ptr<flow_node>> before) {
  for (auto each = before.rbegin(); each != before.rend(); ++each) {
    const auto& node = **each;
    if (lanes_[node.lane].last == node.end.number) return node.lane;
  }
  // The lane used last is looked at first: its engine and memory are warm.
  for (std::size_t step = 0; step < lanes_.size(); ++step) {
    const auto index = (used_ + step) % lanes_.size();
    if (record(index).line()->idle()) return used_ = index;
  }
  return used_ = (used_ + 1) % lanes_.size();
}

status flow_lanes::submit(const std::shared_ptr<flow_node>& made,
                          std::span<const std::shared_ptr<flow_node>> before, call_site site) {
  auto& mine = lanes_[made->lane];
  auto& target = record(made->lane);
  // The latest of each lane comes last, so one wait a lane is enough.
  for (auto each = before.rbegin(); each != before.rend(); ++each) {
    const auto& other = **each;
    if (other.lane == made->lane || mine.seen[other.lane] >= other.end.number) continue;
    if (!other.end.ended()) {
      command wait(command_kind::wait, "wait", site);
      wait_payload payload;
      payload.line = other.end.line;
      payload.number = other.end.number;
      wait.emplace<wait_payload>(wait_ops, std::move(payload));
      if (auto s = target.submit(std::move(wait)); !s.ok()) return s;
    }
    mine.seen[other.lane] = other.end.number;
  }
  command step(command_kind::kernel, made->name, site);
  step.blocks = 1;
  step.emplace<flow_step>(flow_step_ops, made);
  made->end.line = target.line();
  if (auto s = target.submit(std::move(step), &made->end.number); !s.ok()) return s;
  mine.last = made->end.number;
  return {};
}

} // namespace troupe::operators
