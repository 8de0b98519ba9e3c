#include "core/graphs/graph_plan.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include <gsl/gsl>

#include "core/task.hpp"

namespace troupe {
namespace {

// Work whose payload cannot be copied as bytes: it stays where it is, shared.
struct shared_work {
  std::shared_ptr<command> work;

  static status invoke(void* payload, const block& b) {
    auto& own = *static_cast<shared_work*>(payload)->work;
    return own.op->invoke(own.payload(), b);
  }
  static void ranges(const void* payload, const access_sink& sink) {
    const auto& own = *static_cast<const shared_work*>(payload)->work;
    if (own.op->ranges != nullptr) own.op->ranges(own.payload(), sink);
  }
};

constexpr operation shared_ops = make_runnable<shared_work>();

bool borrows(const command& work) { return work.op != nullptr && work.op->borrowed != nullptr; }

command step_of(const std::shared_ptr<command>& work, const char* name) {
  command made(work->kind, name, work->site());
  made.blocks = work->blocks;
  made.thread = work->thread;
  const auto* op = work->op;
  const bool plain = op != nullptr && op->relocate == nullptr && op->destroy == nullptr;
  if (plain || borrows(*work)) {
    made.op = plain ? op : op->borrowed;
    std::memcpy(made.payload(), work->payload(), op->bytes);
  } else {
    made.emplace<shared_work>(shared_ops, work);
  }
  return made;
}

} // namespace

graph_plan::graph_plan(const graph_ir& graph) : name_(graph.name()) {
  const auto order = graph.topological_order();
  Expects(order.size() == graph.nodes().size());
  steps_.reserve(order.size());
  nodes_.reserve(order.size());
  std::vector<std::uint32_t> starts;
  for (const auto each : order) {
    starts.push_back(gsl::narrow<std::uint32_t>(steps_.size()));
    node_path path{each};
    append(graph.nodes()[each], path, "");
  }
  cut(graph, order, starts);
  measure_width();
  shareable_ = width_ > 1 && std::none_of(steps_.begin(), steps_.end(), [](const auto& step) {
    return step.kind == command_kind::callback;
  });
}

void graph_plan::append(const graph_node& node, node_path& path, const std::string& prefix) {
  if (node.kind == node_kind::empty) return;
  if (node.kind != node_kind::work) return append_body(node, path, prefix);
  const auto* name = node.name == node.work->name && prefix.empty()
                         ? node.work->name
                         : intern_name(prefix + node.name);
  if (borrows(*node.work)) lent_[steps_.size()] = node.work;
  if (path.size() > 1) inner_steps_.emplace(path, steps_.size());
  steps_.push_back(step_of(node.work, name));
  nodes_.push_back(path.front());
}

std::uint32_t graph_plan::add_turn(turn_payload turn, std::uint32_t outermost) {
  command made(command_kind::record, "turn", {});
  made.emplace<turn_payload>(carried<turn_payload>::ops, turn);
  steps_.push_back(std::move(made));
  nodes_.push_back(outermost);
  return gsl::narrow<std::uint32_t>(steps_.size() - 1);
}

void graph_plan::append_body(const graph_node& node, node_path& path, const std::string& prefix) {
  using kind = turn_payload::kind;
  const auto outermost = path.front();
  const bool asks = node.kind == node_kind::when || node.kind == node_kind::loop;
  const bool repeats = node.kind == node_kind::repeat;
  std::uint32_t head = 0;
  if (asks) head = add_turn({kind::skip_if_zero, 0, 0, 0, node.condition}, outermost);
  if (repeats) head = add_turn({kind::begin_repeat, 0, node.times}, outermost);
  const auto inner = prefix + node.name + "/";
  for (const auto each : node.body->topological_order()) {
    path.push_back(each);
    append(node.body->nodes()[each], path, inner);
    path.pop_back();
  }
  if (node.kind == node_kind::loop) (void)add_turn({kind::jump, head}, outermost);
  if (repeats) (void)add_turn({kind::next_repeat, head + 1}, outermost);
  if (asks || repeats) {
    steps_[head].as<turn_payload>().target = gsl::narrow<std::uint32_t>(steps_.size());
  }
}

// A node goes on with the segment before it if it follows that one's last node, and nothing else,
// and nothing else follows that.
void graph_plan::cut(const graph_ir& graph, const std::vector<std::uint32_t>& order,
                     const std::vector<std::uint32_t>& starts) {
  const auto& nodes = graph.nodes();
  std::vector<std::uint32_t> followers(nodes.size(), 0);
  for (const auto& each : nodes) {
    for (const auto earlier : each.after) ++followers[earlier];
  }
  std::vector<std::uint32_t> place(nodes.size(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto& after = nodes[order[i]].after;
    const auto end =
        i + 1 < order.size() ? starts[i + 1] : gsl::narrow<std::uint32_t>(steps_.size());
    const bool goes_on =
        i > 0 && after.size() == 1 && after[0] == order[i - 1] && followers[after[0]] == 1;
    if (goes_on) {
      segments_.back().end = end;
    } else {
      segments_.push_back({starts[i], end, 0, {}});
      const auto own = gsl::narrow<std::uint32_t>(segments_.size() - 1);
      for (const auto earlier : after) {
        auto& next = segments_[place[earlier]].next;
        if (!next.empty() && next.back() == own) continue;
        next.push_back(own);
        ++segments_[own].needs;
      }
    }
    place[order[i]] = gsl::narrow<std::uint32_t>(segments_.size() - 1);
  }
}

void graph_plan::measure_width() {
  std::vector<std::uint32_t> level(segments_.size(), 0);
  std::vector<std::size_t> count(segments_.size() + 1, 0);
  for (std::size_t i = 0; i < segments_.size(); ++i) { // in order: what it follows is done
    width_ = std::max(width_, ++count[level[i]]);
    for (const auto each : segments_[i].next) level[each] = std::max(level[each], level[i] + 1);
  }
}

void graph_plan::replace(std::uint32_t node, const std::shared_ptr<command>& work,
                         gsl::span<const graph_holder> way) {
  std::size_t at = 0;
  if (way.empty()) {
    const auto found = std::find(nodes_.begin(), nodes_.end(), node);
    Expects(found != nodes_.end());
    at = static_cast<std::size_t>(found - nodes_.begin());
  } else {
    node_path path;
    for (const auto& each : way) path.push_back(each.node);
    path.push_back(node);
    at = inner_steps_.at(path);
  }
  auto& step = steps_[at];
  auto made = step_of(work, step.name);
  std::destroy_at(&step);
  std::construct_at(&step, std::move(made));
  if (borrows(*work)) lent_[at] = work;
}

} // namespace troupe
