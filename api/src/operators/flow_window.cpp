#include "api/src/operators/flow_window.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "actors/submit_patience.hpp"
#include "actors/waiting.hpp"

namespace troupe::operators {

flow_window::node_ptr flow_window::find(dependency_book::node number) const {
  if (number >= first_) return under_way_.at(number - first_).node;
  const auto at = failed_.find(number);
  return at == failed_.end() ? nullptr : at->second.node;
}

flow_window::before flow_window::before_of(std::span<const access_range> ranges) const {
  before made;
  for (const auto& [on, data] : book_.dependencies_of(ranges)) {
    auto node = find(on);
    if (!node) continue;
    if (data) made.data.push_back(node);
    if (on >= first_) made.all.push_back(std::move(node));
  }
  return made;
}

void flow_window::add(node_ptr made, keep needs) {
  book_.add(first_ + under_way_.size(), made->ranges);
  if (made->moves) {
    ++counters_.copies;
    counters_.copied_bytes += made->ranges.back().bytes;
  } else {
    ++counters_.submitted;
  }
  under_way_.push_back({std::move(made), std::move(needs)});
}

// Waits for a quarter of the window at once: a wait for each node would cost more than the node.
status flow_window::make_room() {
  conclude();
  if (under_way_.size() < limit_) return {};
  const auto allowed_ms = home_.options().submit_timeout_ms;
  const auto deadline =
      after(home_.time().now(), time_ns{1'000'000} * submit_patience::within(allowed_ms));
  const auto quarter = under_way_[limit_ / 4].node;
  const auto end = wait_for_number(home_.room(), *quarter->end.line, quarter->end.number, deadline);
  conclude();
  // That one may have overtaken the first; one place is enough.
  while (under_way_.size() >= limit_) {
    const auto first = under_way_.front().node;
    const auto& [line, number] = first->end;
    const auto how = end == wait_end::expired
                         ? end
                         : wait_for_number(home_.room(), *line, number, deadline);
    conclude();
    if (under_way_.size() < limit_) break;
    if (how == wait_end::expired) return full(allowed_ms);
    if (how == wait_end::interrupted) return lanes_.record(first->lane).why_interrupted();
  }
  return {};
}

status flow_window::full(std::int64_t allowed_ms) const {
  error_record made;
  made.what = code::queue_full;
  made.message = "the dataflow has " + std::to_string(limit_) +
                 " nodes under way, its window, and the first, '" +
                 under_way_.front().node->name + "', did not end within " +
                 std::to_string(allowed_ms) + " ms";
  made.lacking = shortage{"nodes under way", 1, limit_, limit_};
  return status(std::move(made));
}

status flow_window::await(const node_ptr& node, time_ns deadline, std::int64_t limit_ms) {
  const auto [line, number] = node->end;
  const auto end = wait_for_number(home_.room(), *line, number, deadline);
  if (end == wait_end::reached || line->completed() >= number) return {};
  auto& record = lanes_.record(node->lane);
  return end == wait_end::expired ? record.overdue(limit_ms) : record.why_interrupted();
}

std::vector<flow_window::node_ptr> flow_window::all() const {
  std::vector<node_ptr> made;
  for (const auto& each : under_way_) made.push_back(each.node);
  return made;
}

void flow_window::conclude() {
  while (!under_way_.empty()) {
    auto& node = *under_way_.front().node;
    if (!node.has_ended()) break;
    if (!node.concluded) conclude(node, first_);
    under_way_.pop_front();
    ++first_;
  }
  book_.settle(first_ - 1);
  if (failed_.empty()) return;
  forget_freed();
  std::erase_if(failed_, [this](const auto& each) {
    return each.first < first_ && !book_.spoiled().contains(each.first);
  });
}

std::vector<flow_window::spoiled_memory> flow_window::spoiled_by(
    dependency_book::node number) const {
  std::vector<spoiled_memory> made;
  const auto& of = under_way_.at(number - first_);
  for (const auto& range : of.node->ranges) {
    if (range.mode == access_mode::read) continue;
    const auto at = std::ranges::find_if(
        of.needs.tensors, [&](const tensor& each) { return each.bytes().data() == range.base; });
    if (at == of.needs.tensors.end()) continue;
    if (auto keeper = at->bytes().keeper(); !keeper.expired()) made.push_back({range, keeper});
  }
  return made;
}

// A failure is one of tensors: those that come to lie where one has been do not share it.
void flow_window::forget_freed() {
  for (auto& [number, failed] : failed_) {
    if (number >= first_) continue;
    std::erase_if(failed.wrote, [&, on = number](const spoiled_memory& each) {
      if (!each.keeper.expired()) return false;
      book_.forget(on, each.range);
      return true;
    });
  }
}

// In the order of submission, in which each lane's failures come and inputs before who reads them.
void flow_window::conclude_all() {
  auto number = first_;
  for (const auto& each : under_way_) {
    if (each.node->has_ended() && !each.node->concluded) conclude(*each.node, number);
    ++number;
  }
  conclude();
}

void flow_window::conclude(flow_node& node, dependency_book::node number) {
  using stage = flow_node::stage;
  const auto& read = node.inputs;
  node.concluded = true;
  if (!node.moves) ++counters_.concluded;
  auto& record = lanes_.record(node.lane);
  auto own = record.take_failure(node.end.number);
  if (own.ok()) own = node.refusal;
  const auto reached = node.reached.load(std::memory_order_acquire);
  if (own.ok() && reached == stage::waiting) own = record.why_dropped();
  const auto bad = std::ranges::find_if(read, [](const auto& i) { return !i->outcome.ok(); });
  if (own.ok() && bad != read.end()) {
    skip(node, **bad);
  } else if (!own.ok() || reached != stage::succeeded) {
    if (own.ok()) own = make_status(code::kernel_exception, "its failure was one of too many");
    fail(node, std::move(own));
  }
  if (!node.outcome.ok()) {
    book_.spoil(number);
    failed_.emplace(number, failure{find(number), spoiled_by(number)});
  }
  if (!node.end.ended()) return; // given up on, and still running
  node.inputs.clear();
  node.work = nullptr;
}

void flow_window::fail(flow_node& node, status own) {
  if (!node.moves) ++counters_.failed;
  node.outcome = own;
  node.first_cause = std::move(own);
  node.culprit = node.name;
  if (first_failure_.ok()) first_failure_ = node.outcome;
}

void flow_window::skip(flow_node& node, const flow_node& input) {
  node.first_cause = input.first_cause;
  node.culprit = input.culprit;
  if (node.moves) { // what was to be copied fails as if it were read where it was written
    node.outcome = input.outcome;
    return;
  }
  ++counters_.skipped;
  error_record made;
  made.what = node.first_cause.code();
  made.message = std::string("'") + node.name + "' was not run: it needs what '" + node.culprit +
                 "' did not deliver";
  made.task_name = node.name;
  made.cause = node.first_cause.record();
  node.outcome = status(std::move(made));
}

} // namespace troupe::operators
