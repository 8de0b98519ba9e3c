#include "api/acl/src/captures.hpp"

#include <utility>

#include "api/acl/src/objects.hpp"

namespace troupe::acl {
namespace {

constexpr auto model_captured = static_cast<code>(107026);

// The capture of `which`; 0 for none.
std::uint64_t id_of(const stream& which) {
  const auto seen = capturing::look(which);
  return seen ? seen.value().id : 0;
}

error still_capturing() {
  return error(model_captured, "the graph is being captured");
}

}  // namespace

void graph_object::fill(graph content, executable_graph run) {
  const std::lock_guard lock(guard_);
  captured_.emplace(std::move(content), std::move(run));
}

graph graph_object::content() const {
  const std::lock_guard lock(guard_);
  if (!captured_) throw still_capturing();
  return captured_->first;
}

executable_graph graph_object::run() const {
  const std::lock_guard lock(guard_);
  if (!captured_) throw still_capturing();
  return captured_->second;
}

void graph_object::own(void* group) {
  const std::lock_guard lock(guard_);
  groups_.push_back(group);
}

graph_object::~graph_object() {
  for (auto* const each : groups_) (void)handle_table::instance().remove(handle_kind::task_group, each);
}

std::shared_ptr<graph_object> find_graph(void* handle) {
  auto found = handle_table::instance().find(handle_kind::graph, handle);
  if (!found) throw error(invalid_handle("graph"));
  return std::static_pointer_cast<graph_object>(std::move(found));
}

captures& captures::instance() {
  static auto* const made = new captures;
  return *made;
}

// Streams that ended took their captures with them.
void captures::forget_ended() {
  for (auto at = by_id_.begin(); at != by_id_.end();) {
    if (id_of(at->second.origin) == at->first) {
      ++at;
    } else {
      (void)handle_table::instance().remove(handle_kind::graph, at->second.handle);
      at = by_id_.erase(at);
    }
  }
}

status captures::begin(const stream& origin, capturing::mode how) {
  const std::lock_guard lock(guard_);
  forget_ended();
  auto* const handle = new_handle(handle_kind::graph, std::make_shared<graph_object>());
  auto begun = capturing::begin(origin, how);
  if (begun.ok()) {
    by_id_.insert_or_assign(id_of(origin), entry{origin, handle});
  } else {
    (void)handle_table::instance().remove(handle_kind::graph, handle);
  }
  return begun;
}

result<void*> captures::end(const stream& origin, const context& where) {
  const std::lock_guard lock(guard_);
  const auto at = by_id_.find(id_of(origin));
  auto ended = capturing::end(origin);
  if (!ended) {
    forget_ended();
    return ended.error();
  }
  Expects(at != by_id_.end());
  auto* const handle = at->second.handle;
  const auto object = find_graph(handle);
  by_id_.erase(at);
  auto run = executable_graph::instantiate(where, ended.value());
  if (!run) {
    (void)handle_table::instance().remove(handle_kind::graph, handle);
    return run.error();
  }
  object->fill(std::move(ended).value(), std::move(run).value());
  return handle;
}

void* captures::graph_of(const stream& which) const {
  const std::lock_guard lock(guard_);
  const auto at = by_id_.find(id_of(which));
  return at != by_id_.end() ? at->second.handle : nullptr;
}

}  // namespace troupe::acl
