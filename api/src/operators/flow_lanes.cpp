#include "api/src/operators/flow_lanes.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "actors/payloads.hpp"
#include "api/src/copy.hpp"
#include "api/src/states.hpp"

namespace troupe::operators {
namespace {

using nodes = std::span<const std::shared_ptr<flow_node>>;

// Whether command `number` of the stream that this runs on, the last but this one, did what it was
// to do.
status look_back(const stream_record& record, std::uint64_t number) {
  if (record.line()->state_of(number) != ticket_state::reached) return record.why_dropped();
  const auto failed = record.failures();
  if (failed.empty()) return {};
  const auto last = failed.back().record();
  return last != nullptr && last->task_number == number ? failed.back() : status{};
}

// Memory of another context is not used again before the copy has ended.
void note_foreign_use(const stream_record& by, const tensor& what, std::uint64_t number) {
  const auto owner = what.bytes().context_id();
  if (owner == by.context().id()) return;
  const auto other = by.home().find_context(owner);
  if (other) other->note_foreign_use({by.line(), number});
}

} // namespace

flow_lanes::flow_lanes(std::vector<stream> streams, std::size_t places)
    : each_(streams.size() / places), used_(places, 0) {
  Expects(each_ * places == streams.size());
  for (auto& each : streams) {
    lanes_.push_back({std::move(each), 0, std::vector<std::uint64_t>(streams.size(), 0)});
  }
}

std::optional<std::size_t> flow_lanes::behind(nodes before, std::size_t place) const {
  for (auto each = before.rbegin(); each != before.rend(); ++each) {
    const auto& node = **each;
    if (node.lane / each_ == place && lanes_[node.lane].last == node.end.number) return node.lane;
  }
  return std::nullopt;
}

std::size_t flow_lanes::choose(nodes before, std::size_t place) {
  if (const auto found = behind(before, place)) return *found;
  const auto first = place * each_;
  // The lane used last is looked at first: its engine and memory are warm.
  auto& used = used_[place];
  for (std::size_t step = 0; step < each_; ++step) {
    const auto index = (used + step) % each_;
    if (!record(first + index).line()->idle()) continue;
    used = index;
    return first + used;
  }
  used = (used + 1) % each_;
  return first + used;
}

std::uint64_t flow_lanes::queue_at(std::size_t place, nodes before) const {
  if (behind(before, place)) return 0;
  auto shortest = std::numeric_limits<std::uint64_t>::max();
  for (auto i = place * each_; i < (place + 1) * each_; ++i) {
    const auto& line = *record(i).line();
    const auto ended = line.completed(); // first: it never overtakes what was submitted later
    shortest = std::min(shortest, line.submitted() - ended);
  }
  return shortest;
}

status flow_lanes::wait_for(nodes before, std::size_t index, call_site site) {
  auto& mine = lanes_[index];
  auto& target = record(index);
  // The latest of each lane comes last, so one wait a lane is enough.
  for (auto each = before.rbegin(); each != before.rend(); ++each) {
    const auto& other = **each;
    if (other.lane == index || mine.seen[other.lane] >= other.end.number) continue;
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
  return {};
}

status flow_lanes::submit_step(const std::shared_ptr<flow_node>& made, call_site site) {
  auto& target = record(made->lane);
  command step(command_kind::kernel, made->name, site);
  step.blocks = 1;
  step.emplace<flow_step>(flow_step_ops, made);
  made->end.line = target.line();
  if (auto s = target.submit(std::move(step), &made->end.number); !s.ok()) return s;
  lanes_[made->lane].last = made->end.number;
  return {};
}

status flow_lanes::submit(const std::shared_ptr<flow_node>& made, nodes before, call_site site) {
  if (auto s = wait_for(before, made->lane, site); !s.ok()) return s;
  return submit_step(made, site);
}

status flow_lanes::submit_copy(const std::shared_ptr<flow_node>& made, nodes before,
                               const tensor& from, const tensor& to, call_site site) {
  if (auto s = wait_for(before, made->lane, site); !s.ok()) return s;
  auto& target = record(made->lane);
  copy_request what;
  what.target = to.bytes().data();
  what.target_bytes = to.bytes().size();
  what.source = from.bytes().data();
  what.bytes = from.bytes().size();
  const auto soonest = target.line()->submitted() + 1;
  for (const auto* each : {&from, &to}) note_foreign_use(target, *each, soonest);
  std::uint64_t number = 0;
  auto copy = make_copy_command(what, copy_kind::device_to_device);
  if (auto s = target.submit(std::move(copy), &number); !s.ok()) return s;
  made->work = [&target, number] { return look_back(target, number); };
  return submit_step(made, site);
}

} // namespace troupe::operators
