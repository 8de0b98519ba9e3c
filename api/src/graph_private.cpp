#include <limits>
#include <string>
#include <utility>

#include "actors/payloads.hpp"
#include "api/src/graph_copy.hpp"
#include "troupe/graph.hpp"

namespace troupe {
namespace {

status bad(std::string message) {
  return make_status(code::invalid_parameter, std::move(message));
}

std::shared_ptr<command> make_fill(std::byte* target, std::size_t bytes, unsigned char value,
                                   call_site site) {
  auto made = std::make_shared<command>(command_kind::copy_d2d, "fill", site);
  copy_payload fill;
  fill.target = target;
  fill.bytes = bytes;
  fill.value = value;
  made->emplace<copy_payload>(copy_ops, fill);
  return made;
}

} // namespace

result<std::uint32_t> graph::allocate_range(std::size_t count, std::size_t element) {
  if (count == 0) {
    return make_status(code::bad_argument, "graph '" + content_.name() +
                                         "': private memory of 0 elements was asked for");
  }
  constexpr auto bytes_max = std::numeric_limits<std::size_t>::max() / 4;
  if (count > bytes_max / element || private_.ranges() >= graph_ir::nodes_max) {
    return bad("graph '" + content_.name() + "': no private memory of " + std::to_string(count) +
               " elements of " + std::to_string(element) + " bytes; a graph has at most " +
               std::to_string(graph_ir::nodes_max) + " such buffers");
  }
  return private_.add(count * element);
}

status graph::check_private(private_arguments named) const {
  for (const auto& each : named) {
    if (!each || (each->graph == id_ && each->range < private_.ranges())) continue;
    return bad("private memory " + std::to_string(each->range) + " is of " +
               (each->graph == 0 ? std::string("no graph") : "another graph than '" +
                                                                 content_.name() + "'"));
  }
  return {};
}

result<node> graph::add_bound(std::string_view name, private_memory::binder make,
                              private_arguments named) {
  graph_node made;
  made.name = std::string(name);
  made.kind = node_kind::work;
  made.work = make({}); // of this signature, with nowhere to go: `bind` puts others in its place
  auto added = add_node(std::move(made));
  if (!added) return added;
  std::vector<std::uint32_t> ranges;
  for (const auto& each : named) {
    if (each) ranges.push_back(each->range);
  }
  private_.use(added.value().index, std::move(ranges), std::move(make));
  return added;
}

result<node> graph::add_bound_copy(copy_request request,
                                   std::optional<detail::named_private> target,
                                   std::optional<detail::named_private> source) {
  if (auto s = check_private({target, source}); !s.ok()) return s;
  if (request.bytes == 0) return add_empty("copy");
  const task here("copy", 1, request.site);
  if (auto s = check_work(here, {request.target_context, request.source_context}); !s.ok()) {
    return s;
  }
  // Private memory is the device's, of whichever context the graph comes to.
  if (target) request.target_context = UINT64_MAX;
  if (source) request.source_context = UINT64_MAX;
  auto make = [request, target, source](const std::vector<std::byte*>& at) {
    static std::byte nowhere{};
    auto bound = request;
    if (target) bound.target = at.empty() ? &nowhere : at[target->range];
    if (source) bound.source = at.empty() ? &nowhere : at[source->range];
    return std::make_shared<command>(make_graph_copy(bound).value());
  };
  auto trial = request;
  if (target) trial.target = this;
  if (source) trial.source = this;
  if (auto checked = make_graph_copy(trial); !checked) return checked.error();
  return add_bound("copy", std::move(make), {target, source});
}

result<node> graph::add_bound_fill(std::optional<detail::named_private> target, std::size_t bytes,
                                   unsigned char value, call_site site) {
  if (auto s = check_private({target}); !s.ok()) return s;
  return add_bound(
      "fill",
      [range = target->range, bytes, value, site](const std::vector<std::byte*>& at) {
        return make_fill(at.empty() ? nullptr : at[range], bytes, value, site);
      },
      {target});
}

result<node> graph::add_free_raw(detail::named_private memory) {
  if (auto s = check_private({memory}); !s.ok()) return s;
  const auto next = static_cast<std::uint32_t>(content_.nodes().size());
  if (next >= graph_ir::nodes_max) return add_empty("free"); // says what is wrong
  if (auto s = private_.end(memory.range, next); !s.ok()) return s;
  return add_empty("free");
}

result<private_layout> graph::plan_private_memory() const { return private_.plan(content_); }

} // namespace troupe
