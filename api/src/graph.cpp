#include "troupe/graph.hpp"

#include <atomic>
#include <string>
#include <utility>

#include "actors/payloads.hpp"
#include "api/src/copy.hpp"
#include "api/src/graph_copy.hpp"
#include "api/src/host_function.hpp"
#include "core/cost_model.hpp"
#include "core/graphs/graph_export.hpp"

namespace troupe {
namespace {

std::atomic<std::uint64_t> last_graph_id = 0;

status bad(std::string message) {
  return make_status(code::invalid_parameter, std::move(message));
}

std::int64_t cost_of(const graph_node& node) {
  if (!node.work) return -1;
  static const cost_model costs;
  static const device_profile profile;
  const auto& work = *node.work;
  if (is_copy(work.kind)) {
    return costs.copy_ns(profile, work.kind == command_kind::copy_d2d,
                         work.as<copy_payload>().bytes, true);
  }
  if (work.kind == command_kind::callback) return costs.callback_ns;
  return costs.kernel_ns(profile, work);
}

} // namespace

graph::graph(std::string_view name) : graph(graph_ir(std::string(name))) {}

graph::graph(graph_ir content, std::uint64_t context_id)
    : content_(std::move(content)), id_(last_graph_id.fetch_add(1) + 1), context_id_(context_id) {}

status graph::check_work(const task& t, std::initializer_list<std::uint64_t> contexts) {
  if (t.blocks == 0) return bad(std::string("node '") + t.name + "' has 0 blocks; the least is 1");
  auto owner = context_id_;
  std::size_t place = 0;
  for (const auto each : contexts) {
    ++place;
    if (each == 0) continue;
    if (owner == 0) owner = each;
    if (each == owner) continue;
    return bad("argument " + std::to_string(place) + " of node '" + t.name +
               "' is memory of context " + std::to_string(each) + "; graph '" + content_.name() +
               "' has memory of context " + std::to_string(owner));
  }
  context_id_ = owner;
  return {};
}

result<node> graph::add_node(graph_node made) {
  const auto index = content_.add(std::move(made));
  if (!index) return index.error();
  return node{id_, index.value()};
}

result<node> graph::add_work(std::string_view name, command&& work) {
  graph_node made;
  made.name = std::string(name);
  made.kind = node_kind::work;
  made.work = std::make_shared<command>(std::move(work));
  return add_node(std::move(made));
}

result<node> graph::add_copy_raw(const copy_request& request) {
  if (request.bytes == 0) return add_empty("copy");
  auto made = make_graph_copy(request);
  if (!made) return made.error();
  const task here("copy", 1, request.site);
  if (auto s = check_work(here, {request.target_context, request.source_context}); !s.ok()) {
    return s;
  }
  return add_work("copy", std::move(made).value());
}

result<node> graph::add_fill_raw(void* target, std::size_t bytes, unsigned char value,
                                 std::uint64_t context, call_site site) {
  if (bytes == 0) return add_empty("fill");
  const task here("fill", 1, site);
  if (auto s = check_work(here, {context}); !s.ok()) return s;
  return add_work("fill", make_fill_command(target, bytes, value, site));
}

result<node> graph::add_callback(const task& t, std::function<void()> function) {
  if (!function) return bad(std::string("the host callback '") + t.name + "' is empty");
  command made(command_kind::callback, t.name, t.site);
  made.emplace<host_function>(host_function_ops, std::move(function));
  return add_work(t.name, std::move(made));
}

result<node> graph::add_empty(std::string_view name) {
  graph_node made;
  made.name = std::string(name);
  return add_node(std::move(made));
}

result<node> graph::add_body(node_kind kind, std::string_view name, const graph& body,
                             const std::uint32_t* condition, std::uint32_t times) {
  graph_node made;
  made.name = std::string(name);
  if (body.context_id_ != 0 && context_id_ != 0 && body.context_id_ != context_id_) {
    return bad("sub-graph '" + made.name + "' has memory of context " +
               std::to_string(body.context_id_) + ", graph '" + content_.name() + "' of context " +
               std::to_string(context_id_));
  }
  made.kind = kind;
  made.body = std::make_shared<const graph_ir>(body.content_);
  made.body_id = body.id_;
  made.condition = condition;
  made.times = times;
  auto added = add_node(std::move(made));
  if (!added) return added;
  if (context_id_ == 0) context_id_ = body.context_id_;
  private_.nest(added.value().index, body.private_);
  return added;
}

result<node> graph::add_subgraph(std::string_view name, const graph& body) {
  return add_body(node_kind::inlined, name, body, nullptr, 1);
}

result<node> graph::add_conditional(std::string_view name, const std::uint32_t* condition,
                                    const graph& body) {
  return add_body(node_kind::when, name, body, condition, 1);
}

result<node> graph::add_loop(std::string_view name, const std::uint32_t* condition,
                             const graph& body) {
  return add_body(node_kind::loop, name, body, condition, 1);
}

result<node> graph::add_repeat(std::string_view name, std::uint32_t times, const graph& body) {
  return add_body(node_kind::repeat, name, body, nullptr, times);
}

status graph::check_node(const node& n) const {
  if (n.graph == id_) return {};
  return bad("node " + std::to_string(n.index) + " is of " +
             (n.graph == 0 ? std::string("no graph") : "another graph than '" +
                                                           content_.name() + "'"));
}

status graph::add_dependency(const node& earlier, const node& later) {
  if (auto s = check_node(earlier); !s.ok()) return s;
  if (auto s = check_node(later); !s.ok()) return s;
  return content_.depend(earlier.index, later.index);
}

status graph::describe(const node& target, node_description what) {
  if (auto s = check_node(target); !s.ok()) return s;
  content_.describe(target.index, std::move(what));
  return {};
}

std::string graph::to_dot() const { return troupe::to_dot(content_, cost_of); }

std::string graph::to_json() const { return troupe::to_json(content_, cost_of); }

} // namespace troupe
