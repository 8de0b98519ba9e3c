#include "core/graphs/graph_ir.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include <gsl/gsl>

namespace troupe {
namespace {

status bad(std::string message) {
  return make_status(code::invalid_parameter, std::move(message));
}

bool has_body(node_kind kind) noexcept {
  return kind != node_kind::work && kind != node_kind::empty;
}

} // namespace

const char* to_string(node_kind kind) noexcept {
  switch (kind) {
    case node_kind::work: return "work";
    case node_kind::empty: return "empty";
    case node_kind::inlined: return "sub-graph";
    case node_kind::when: return "conditional";
    case node_kind::loop: return "loop";
    case node_kind::repeat: return "repeat";
  }
  return "unknown";
}

result<std::uint32_t> graph_ir::add(graph_node node) {
  const auto what = "node '" + node.name + "' of graph '" + name_ + "'";
  if (nodes_.size() >= nodes_max) {
    return make_status(code::over_limit, what + " is one more than " + std::to_string(nodes_max) +
                                             ", the most a graph has");
  }
  if (node.kind == node_kind::work && !node.work) return bad(what + " has no work");
  if (has_body(node.kind)) {
    if (!node.body) return bad(what + " has no sub-graph");
    if (auto s = node.body->validate(); !s.ok()) return s;
    if (node.body->depth() >= depth_max) {
      return bad(what + " has sub-graphs " + std::to_string(node.body->depth()) +
                 " deep; the most is " + std::to_string(depth_max - 1));
    }
    depth_ = std::max(depth_, node.body->depth() + 1);
  }
  const bool asks = node.kind == node_kind::when || node.kind == node_kind::loop;
  if (asks && node.condition == nullptr) return bad(what + " has a null condition");
  node.after.clear();
  nodes_.push_back(std::move(node));
  return gsl::narrow<std::uint32_t>(nodes_.size() - 1);
}

status graph_ir::no_such_node(std::uint32_t index) const {
  return bad("graph '" + name_ + "' has no node " + std::to_string(index) + "; it has " +
             std::to_string(nodes_.size()));
}

status graph_ir::depend(std::uint32_t earlier, std::uint32_t later) {
  if (earlier >= nodes_.size()) return no_such_node(earlier);
  if (later >= nodes_.size()) return no_such_node(later);
  if (earlier == later) {
    return bad("node '" + nodes_[later].name + "' of graph '" + name_ + "' would follow itself");
  }
  auto& after = nodes_[later].after;
  const auto at = std::lower_bound(after.begin(), after.end(), earlier);
  if (at != after.end() && *at == earlier) return {};
  after.insert(at, earlier);
  ++edges_;
  return {};
}

result<const graph_ir*> graph_ir::inner(gsl::span<const graph_holder> way) const {
  if (way.empty()) return this;
  const auto& [at, body_id] = way.front();
  if (at >= nodes_.size()) return no_such_node(at);
  const auto& holder = nodes_[at];
  const auto what = "node '" + holder.name + "' of graph '" + name_ + "'";
  if (!holder.body) return bad(what + " holds no sub-graph");
  if (holder.body_id != body_id) return bad(what + " holds another sub-graph");
  return holder.body->inner(way.subspan(1));
}

// Sub-graphs are shared with copies of this graph: those on the way are copied.
status graph_ir::replace_work(std::uint32_t node, std::shared_ptr<command> work,
                              gsl::span<const graph_holder> way) {
  if (!way.empty()) {
    if (const auto found = inner(way); !found) return found.error();
    auto& holder = nodes_[way.front().node];
    auto changed = std::make_shared<graph_ir>(*holder.body);
    if (auto s = changed->replace_work(node, std::move(work), way.subspan(1)); !s.ok()) return s;
    holder.body = std::move(changed);
    return {};
  }
  if (node >= nodes_.size()) return no_such_node(node);
  auto& target = nodes_[node];
  const auto what = "node '" + target.name + "' of graph '" + name_ + "'";
  if (target.kind != node_kind::work || !work) return bad(what + " has no work to update");
  if (target.work->kind != work->kind || target.work->op != work->op) {
    return bad("the update of " + what + " has another signature than the node");
  }
  work->blocks = target.work->blocks;
  target.work = std::move(work);
  return {};
}

void graph_ir::describe(std::uint32_t node, node_description what) {
  Expects(node < nodes_.size());
  nodes_[node].what = std::move(what);
}

std::vector<std::vector<std::uint32_t>> graph_ir::followers() const {
  std::vector<std::vector<std::uint32_t>> made(nodes_.size());
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    for (const auto earlier : nodes_[i].after) made[earlier].push_back(i);
  }
  return made;
}

// What is left when all that can be ordered is taken away has a predecessor that is left as well:
// walking back from any of it comes round.
status graph_ir::validate() const {
  const auto order = topological_order();
  if (order.size() == nodes_.size()) return {};
  std::vector<bool> ordered(nodes_.size(), false);
  for (const auto each : order) ordered[each] = true;
  const auto left = std::find(ordered.begin(), ordered.end(), false) - ordered.begin();
  auto at = gsl::narrow<std::uint32_t>(left);
  std::vector<std::uint32_t> path;
  while (std::find(path.begin(), path.end(), at) == path.end()) {
    path.push_back(at);
    const auto& after = nodes_[at].after;
    at = *std::find_if(after.begin(), after.end(), [&](auto each) { return !ordered[each]; });
  }
  std::string cycle = "'" + nodes_[at].name + "'";
  for (auto i = path.rbegin(); i != path.rend(); ++i) {
    cycle += " -> '" + nodes_[*i].name + "'";
    if (*i == at) break;
  }
  return bad("graph '" + name_ + "' has a cycle: " + cycle);
}

std::vector<std::uint32_t> graph_ir::topological_order() const {
  const auto next = followers();
  std::vector<std::uint32_t> order;
  order.reserve(nodes_.size());
  std::vector<std::size_t> missing(nodes_.size());
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    missing[i] = nodes_[i].after.size();
    if (missing[i] == 0) ready.push(i);
  }
  while (!ready.empty()) {
    auto at = ready.top();
    ready.pop();
    for (bool on_chain = true; on_chain;) {
      order.push_back(at);
      on_chain = false;
      for (const auto each : next[at]) {
        if (--missing[each] != 0) continue;
        if (next[at].size() == 1 && nodes_[each].after.size() == 1) {
          on_chain = true;
          at = each;
          break;
        }
        ready.push(each);
      }
    }
  }
  return order;
}

} // namespace troupe
