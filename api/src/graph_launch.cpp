#include <string>
#include <utility>

#include "actors/graphs/capture.hpp"
#include "actors/graphs/executable.hpp"
#include "api/src/binding.hpp"
#include "api/src/copy.hpp"
#include "api/src/graph_copy.hpp"
#include "api/src/states.hpp"
#include "troupe/graph.hpp"

namespace troupe {
namespace {

status empty_graph() {
  return make_status(code::invalid_handle, "the executable graph's handle is empty");
}

} // namespace

result<command> make_graph_copy(const copy_request& request) {
  if (auto s = check_sizes(request); !s.ok()) return s;
  const bool to_device = request.target_context != 0;
  const bool from_device = request.source_context != 0;
  if (!to_device && !from_device) {
    return make_status(code::not_supported, "a copy from host to host has no place in a graph");
  }
  const auto direction = to_device && from_device ? copy_kind::device_to_device
                         : to_device              ? copy_kind::host_to_device
                                                  : copy_kind::device_to_host;
  return make_copy_command(request, direction);
}

/// The memory of an instantiated graph that only its nodes use.
struct executable_graph::private_block {
  buffer<std::byte> block;
  private_memory users;
  private_layout layout;
};

result<executable_graph> executable_graph::instantiate(const context& where, const graph& g) {
  const auto& state = where.state();
  if (!state) return make_status(code::context_null, "the context handle is empty");
  if (auto s = may_call(*state->home, "executable_graph::instantiate"); !s.ok()) return s;
  if (g.context_id() != 0 && g.context_id() != where.id()) {
    return make_status(code::invalid_parameter,
                       "graph '" + g.content().name() + "' has memory of context " +
                           std::to_string(g.context_id()) + ", not of context " +
                           std::to_string(where.id()));
  }
  auto where_to = g.plan_private_memory();
  if (!where_to) return where_to.error();
  const auto& layout = where_to.value();
  std::shared_ptr<const private_block> own;
  auto content = g.content();
  if (layout.peak_bytes != 0) {
    auto block = where.allocate<std::byte>(layout.peak_bytes);
    if (!block) return block.error();
    auto* const base = block.value().data();
    content = g.private_.bind(content, layout, base);
    own = std::make_shared<const private_block>(
        private_block{std::move(block).value(), g.private_, layout});
  }
  auto made = executable::instantiate(state->record, std::move(content));
  if (!made) return made.error();
  executable_graph handle;
  handle.private_ = std::move(own);
  handle.home_ = state->home;
  handle.state_ = std::move(made).value();
  handle.graph_id_ = g.id();
  return handle;
}

status executable_graph::launch(const stream& target, call_site site) const {
  if (!state_) return empty_graph();
  if (!target.state()) return make_status(code::invalid_handle, "the stream handle is empty");
  if (auto s = may_call(*home_, "executable_graph::launch"); !s.ok()) return s;
  auto& record = *target.state()->record;
  if (auto s = binding::check(record.context()); !s.ok()) return s;
  if (&record.context() != &state_->context()) {
    return make_status(code::stream_context,
                       "stream " + std::to_string(record.id()) + " is of context " +
                           std::to_string(record.context().id()) + ", the graph of context " +
                           std::to_string(state_->context().id()));
  }
  if (auto s = record.check_open(); !s.ok()) return s;
  if (capture::any()) {
    graph_node made; // in a capture it becomes a part of the graph
    made.body = std::make_shared<const graph_ir>(state_->content());
    made.body_id = graph_id_;
    made.name = made.body->name();
    made.kind = node_kind::inlined;
    if (auto taken = capture::take(record, std::move(made))) return *taken;
  }
  return state_->launch(record, site);
}

status executable_graph::check_update(const any_node& target,
                                      std::initializer_list<std::uint64_t> contexts) const {
  if (!state_) return empty_graph();
  if (auto s = may_call(*home_, "executable_graph::update"); !s.ok()) return s;
  const auto& outermost = target.holders.empty() ? target.target : target.holders.front();
  if (outermost.graph != graph_id_) {
    return make_status(code::invalid_parameter,
                       "node " + std::to_string(outermost.index) + " is of another graph");
  }
  for (const auto each : contexts) {
    if (each == 0 || each == state_->context().id()) continue;
    return make_status(code::invalid_parameter, "the update names memory of context " +
                                                    std::to_string(each) +
                                                    "; the graph is of context " +
                                                    std::to_string(state_->context().id()));
  }
  return {};
}

// A sub-graph has private memory of its own, in a part of the block.
result<std::vector<std::byte*>> executable_graph::addresses_for(
    const any_node& target,
    std::initializer_list<std::optional<detail::named_private>> named) const {
  const auto* users = private_ ? &private_->users : nullptr;
  const auto* layout = private_ ? &private_->layout : nullptr;
  auto* block = private_ ? private_->block.data() : nullptr;
  for (const auto& each : target.holders) {
    if (users != nullptr) users = users->nested(each.index);
    if (users == nullptr || !layout->inner.contains(each.index)) {
      users = nullptr;
      break;
    }
    block += layout->bodies.at(each.index);
    layout = &layout->inner.at(each.index);
  }
  for (const auto& each : named) {
    if (!each) continue;
    if (users != nullptr && each->graph == target.target.graph &&
        users->names(target.target.index, each->range)) {
      continue;
    }
    return make_status(code::invalid_parameter,
                       "node " + std::to_string(target.target.index) +
                           " did not name private memory " + std::to_string(each->range) +
                           " when it was added");
  }
  return private_memory::addresses(*layout, block);
}

std::uint64_t executable_graph::private_bytes() const {
  return private_ ? private_->block.size() : 0;
}

// Each holder is a node of the graph that the one before it holds.
status executable_graph::update_work(const any_node& target, command&& work) const {
  executable::change made{target.target.index, std::make_shared<command>(std::move(work))};
  for (std::size_t i = 0; i < target.holders.size(); ++i) {
    const auto& held = i + 1 < target.holders.size() ? target.holders[i + 1] : target.target;
    made.way.push_back({target.holders[i].index, held.graph});
  }
  return state_->update(gsl::span(&made, 1));
}

status executable_graph::update_copy_raw(const any_node& which,
                                         const copy_request& request) const {
  if (auto s = check_update(which, {request.target_context, request.source_context}); !s.ok()) {
    return s;
  }
  auto made = make_graph_copy(request);
  return made ? update_work(which, std::move(made).value()) : made.error();
}

status executable_graph::destroy() const {
  if (!state_) return empty_graph();
  if (auto s = may_call(*home_, "executable_graph::destroy"); !s.ok()) return s;
  return state_->destroy();
}

std::uint64_t executable_graph::replays() const { return state_ ? state_->replays() : 0; }

std::size_t executable_graph::lanes() const { return state_ ? state_->lanes() : 0; }

} // namespace troupe
