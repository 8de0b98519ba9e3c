#include "core/graphs/private_memory.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <gsl/gsl>

namespace troupe {
namespace {

// One flag per node: whether it comes before `last`.
std::vector<bool> nodes_before(const graph_ir& graph, std::uint32_t last) {
  std::vector<bool> before(graph.nodes().size(), false);
  std::vector<std::uint32_t> open{last};
  while (!open.empty()) {
    const auto at = open.back();
    open.pop_back();
    for (const auto earlier : graph.nodes()[at].after) {
      if (before[earlier]) continue;
      before[earlier] = true;
      open.push_back(earlier);
    }
  }
  return before;
}

} // namespace

std::uint32_t private_memory::add(std::uint64_t bytes) {
  Expects(bytes != 0);
  ranges_.push_back({bytes, {}, nobody});
  return gsl::narrow<std::uint32_t>(ranges_.size() - 1);
}

void private_memory::use(std::uint32_t node, std::vector<std::uint32_t> ranges, binder make) {
  for (const auto each : ranges) {
    Expects(each < ranges_.size());
    ranges_[each].users.push_back(node);
  }
  binders_[node] = std::move(make);
}

status private_memory::end(std::uint32_t range, std::uint32_t node) {
  Expects(range < ranges_.size());
  auto& ended = ranges_[range];
  if (ended.freed_by != nobody) {
    return make_status(code::invalid_parameter, "private range " + std::to_string(range) +
                                                    " is freed by node " +
                                                    std::to_string(ended.freed_by) + " already");
  }
  ended.freed_by = node;
  return {};
}

void private_memory::nest(std::uint32_t node, private_memory body) {
  if (body.ranges_.empty() && body.bodies_.empty()) return;
  bodies_.insert_or_assign(node, std::move(body));
}

bool private_memory::names(std::uint32_t node, std::uint32_t range) const {
  if (range >= ranges_.size()) return false;
  const auto& users = ranges_[range].users;
  return std::find(users.begin(), users.end(), node) != users.end();
}

const private_memory* private_memory::nested(std::uint32_t node) const {
  const auto found = bodies_.find(node);
  return found == bodies_.end() ? nullptr : &found->second;
}

status private_memory::check_ends(const graph_ir& graph) const {
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    const auto& each = ranges_[i];
    if (each.freed_by == nobody) continue;
    const auto before = nodes_before(graph, each.freed_by);
    const auto late = std::find_if(each.users.begin(), each.users.end(),
                                   [&before](auto user) { return !before[user]; });
    if (late == each.users.end()) continue;
    return make_status(code::invalid_parameter,
                       "node '" + graph.nodes()[*late].name + "' of graph '" + graph.name() +
                           "' uses private range " + std::to_string(i) +
                           " and does not come before node '" +
                           graph.nodes()[each.freed_by].name + "', which frees it");
  }
  return {};
}

result<private_layout> private_memory::plan(const graph_ir& graph) const {
  if (auto s = graph.validate(); !s.ok()) return s;
  if (auto s = check_ends(graph); !s.ok()) return s;
  private_layout made;
  std::uint64_t inside = 0; // what reuse within sub-graphs saves
  std::vector<private_range> placed;
  std::vector<std::size_t> numbers; // of the ranges in `placed`
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    auto users = ranges_[i].users;
    if (users.empty()) continue;
    if (ranges_[i].freed_by != nobody) users.push_back(ranges_[i].freed_by);
    placed.push_back({ranges_[i].bytes, std::move(users)});
    numbers.push_back(i);
  }
  for (const auto& [node, body] : bodies_) {
    auto inner = body.plan(*graph.nodes()[node].body);
    if (!inner) return inner.error();
    if (inner.value().peak_bytes == 0) continue;
    placed.push_back({inner.value().peak_bytes, {node}});
    inside += inner.value().total_bytes - inner.value().peak_bytes;
    made.inner.emplace(node, std::move(inner).value());
  }
  made.offsets.assign(ranges_.size(), 0);
  if (placed.empty()) return made; // costs nothing where there is nothing to place
  const auto where = plan_memory(graph, placed);
  if (!where) return where.error();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    made.offsets[numbers[i]] = where.value().offsets[i];
  }
  auto at = numbers.size();
  for (const auto& [node, inner] : made.inner) made.bodies[node] = where.value().offsets[at++];
  made.peak_bytes = where.value().peak_bytes;
  made.total_bytes = where.value().total_bytes + inside;
  return made;
}

std::vector<std::byte*> private_memory::addresses(const private_layout& where, std::byte* block) {
  std::vector<std::byte*> made;
  made.reserve(where.offsets.size());
  for (const auto offset : where.offsets) made.push_back(block + offset);
  return made;
}

graph_ir private_memory::bind(const graph_ir& graph, const private_layout& where,
                              std::byte* block) const {
  const auto at = addresses(where, block);
  graph_ir made(graph.name());
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
    auto node = graph.nodes()[i];
    if (const auto binds = binders_.find(i); binds != binders_.end()) {
      node.work = binds->second(at);
    }
    if (const auto inner = where.inner.find(i); inner != where.inner.end()) {
      node.body = std::make_shared<const graph_ir>(bodies_.at(i).bind(
          *graph.nodes()[i].body, inner->second, block + where.bodies.at(i)));
    }
    (void)made.add(std::move(node)).value();
  }
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
    for (const auto earlier : graph.nodes()[i].after) made.depend(earlier, i).or_throw();
  }
  return made;
}

} // namespace troupe
