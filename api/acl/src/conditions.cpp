#include "api/acl/src/conditions.hpp"

#include <algorithm>
#include <atomic>
#include <span>
#include <utility>

#include "actors/graphs/capture.hpp"
#include "actors/stream_record.hpp"
#include "api/acl/src/call.hpp"
#include "api/acl/src/captures.hpp"
#include "api/src/states.hpp"
#include "core/graphs/graph_codes.hpp"

namespace troupe::acl {
namespace {

std::atomic<std::uint64_t> last_place = 0;

// Decides in the order of the stream or graph that runs it.
auto decider(std::shared_ptr<decision> made) {
  return [made = std::move(made)](std::span<const std::uint64_t> value) { made->take(value[0]); };
}

device_span<const std::uint64_t> value_of(const condition_object& by) {
  return by.value.span();
}

// The nodes that no other follows.
std::vector<std::uint32_t> last_nodes(const graph_ir& content) {
  std::vector<bool> followed(content.nodes().size(), false);
  for (const auto& each : content.nodes()) {
    for (const auto before : each.after) followed[before] = true;
  }
  std::vector<std::uint32_t> last;
  for (std::uint32_t i = 0; i < followed.size(); ++i) {
    if (!followed[i]) last.push_back(i);
  }
  return last;
}

// A body that decides anew at its end.
result<graph> deciding(graph body, const condition_object& by, std::shared_ptr<decision> made) {
  const auto before = last_nodes(body.content());
  const auto added = body.add_kernel("condition", decider(std::move(made)), value_of(by));
  if (!added) return added.error();
  for (const auto each : before) {
    if (auto s = body.add_dependency({body.id(), each}, added.value()); !s.ok()) return s;
  }
  return body;
}

// Before all else in `content`.
status begin_with(graph& whole, const condition_object& by) {
  const auto nodes = whole.node_count();
  const auto added = whole.add_kernel(
      "condition default",
      [value = *by.at_start](std::span<std::uint64_t> to) { to[0] = value; }, by.value.span());
  if (!added) return added.error();
  for (std::uint32_t i = 0; i < nodes; ++i) {
    if (!whole.content().nodes()[i].after.empty()) continue;
    if (auto s = whole.add_dependency(added.value(), {whole.id(), i}); !s.ok()) return s;
  }
  return {};
}

}  // namespace

void decision::take(std::uint64_t value) noexcept {
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const bool by_number = how == ACL_MODEL_RI_COND_TYPE_SWITCH;
    flags[i] = (by_number ? value == i : (value != 0) == (i == 0)) ? 1 : 0;
  }
}

void conditions::add_value(std::shared_ptr<condition_object> by) {
  const std::lock_guard lock(guard_);
  values_.push_back(std::move(by));
}

status conditions::add_branches(stream& line, aclmdlRICondTaskType how,
                                const std::shared_ptr<condition_object>& by,
                                const branches& all) {
  const auto made = std::make_shared<decision>(decision{how, {}});
  made->flags.resize(all.size());
  if (auto s = line.launch("condition", decider(made), value_of(*by)); !s.ok()) return s;
  for (std::size_t i = 0; i < all.size(); ++i) {
    graph_node empty;
    empty.name = "branch " + std::to_string(++last_place);
    const auto name = empty.name;
    const auto taken = capture::take(*line.state()->record, std::move(empty));
    if (!taken) return make_status(code::stream_not_captured, "the capture has ended meanwhile");
    if (!taken->ok()) return *taken;
    const std::lock_guard lock(guard_);
    places_.push_back({name, by, made, i, all[i]});
  }
  return {};
}

status conditions::check_captured() const {
  const std::lock_guard lock(guard_);
  for (const auto& each : places_) {
    if (each.branch->captured()) continue;
    return make_status(static_cast<code>(107026),
                       "branch " + std::to_string(each.flag) + " of a condition of the graph has "
                                                               "not been captured");
  }
  return {};
}

const conditions::place* conditions::place_named(const std::string& name) const {
  const auto found = std::find_if(places_.begin(), places_.end(),
                                  [&](const auto& each) { return each.name == name; });
  return found != places_.end() ? &*found : nullptr;
}

// The node that a branch becomes.
result<graph_node> conditions::filled(const place& where, std::uint64_t context) {
  auto body = where.branch->content();
  if (body.context_id() != context) {
    return bad_parameter("a branch with memory of another context than its graph's");
  }
  const bool again = where.made->how == ACL_MODEL_RI_COND_TYPE_WHILE;
  if (again) {
    auto longer = deciding(std::move(body), *where.by, where.made);
    if (!longer) return longer.error();
    body = std::move(longer).value();
  }
  graph_node made;
  made.name = where.name;
  made.kind = again ? node_kind::loop : node_kind::when;
  made.body = std::make_shared<const graph_ir>(body.content());
  made.condition = &where.made->flags[where.flag];
  return made;
}

result<graph> conditions::put_into(const graph& captured) const {
  const std::lock_guard lock(guard_);
  if (values_.empty()) return captured;
  graph_ir built(captured.content().name());
  for (const auto& each : captured.content().nodes()) {
    auto node = each;
    if (const auto* where = place_named(each.name); where && each.kind == node_kind::empty) {
      auto branch = filled(*where, captured.context_id());
      if (!branch) return branch.error();
      node = std::move(branch).value();
    }
    const auto index = built.add(std::move(node));
    if (!index) return index.error();
    for (const auto before : each.after) {
      if (auto s = built.depend(before, index.value()); !s.ok()) return s;
    }
  }
  graph whole(std::move(built), captured.context_id());
  for (const auto& each : values_) {
    if (!each->at_start) continue;
    if (auto s = begin_with(whole, *each); !s.ok()) return s;
  }
  return whole;
}

}  // namespace troupe::acl
