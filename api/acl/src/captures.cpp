#include "api/acl/src/captures.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "api/acl/src/call.hpp"
#include "api/acl/src/for_good.hpp"
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

// The two enumerations have the same order.
static_assert(static_cast<int>(capturing::mode::global) == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
static_assert(static_cast<int>(capturing::mode::thread_bound) ==
              ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL);
static_assert(static_cast<int>(capturing::mode::relaxed) == ACL_MODEL_RI_CAPTURE_MODE_RELAXED);

}  // namespace

bool graph_object::captured() const {
  const std::lock_guard lock(guard_);
  return captured_.has_value();
}

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
  if (is_branch()) throw error(bad_parameter("a branch runs and ends with its graph"));
  const std::lock_guard lock(guard_);
  if (!captured_) throw still_capturing();
  return captured_->second;
}

void graph_object::own(handle_kind kind, void* handle) {
  const std::lock_guard lock(guard_);
  owned_.emplace_back(kind, handle);
}

graph_object::~graph_object() {
  for (const auto& [kind, each] : owned_) (void)handle_table::instance().remove(kind, each);
}

std::shared_ptr<graph_object> find_graph(void* handle) {
  auto found = handle_table::instance().find(handle_kind::graph, handle);
  if (!found) throw error(invalid_handle("graph"));
  return std::static_pointer_cast<graph_object>(std::move(found));
}

result<capturing::mode> capture_mode_of(const char* call, aclmdlRICaptureMode mode) {
  if (mode < ACL_MODEL_RI_CAPTURE_MODE_GLOBAL || mode > ACL_MODEL_RI_CAPTURE_MODE_RELAXED) {
    return bad_argument(std::string(call) + ": a mode of " + std::to_string(mode));
  }
  return static_cast<capturing::mode>(mode);
}

captures& captures::instance() {
  return for_good<captures>();
}

// The handle of a branch is its graph's.
void captures::drop(const entry& which) {
  if (which.object->is_branch()) return;
  (void)handle_table::instance().remove(handle_kind::graph, which.handle);
}

// Streams that ended took their captures with them.
void captures::forget_ended() {
  for (auto at = by_id_.begin(); at != by_id_.end();) {
    if (id_of(at->second.origin) == at->first) {
      ++at;
    } else {
      drop(at->second);
      at = by_id_.erase(at);
    }
  }
}

// Under the guard.
status captures::begin_as(const stream& origin, capturing::mode how, void* handle) {
  entry made{origin, handle, find_graph(handle)};
  auto begun = capturing::begin(origin, how);
  if (begun.ok()) {
    by_id_.insert_or_assign(id_of(origin), std::move(made));
  } else {
    drop(made);
  }
  return begun;
}

status captures::begin(const stream& origin, capturing::mode how) {
  const std::lock_guard lock(guard_);
  forget_ended();
  return begin_as(origin, how, new_handle(handle_kind::graph, std::make_shared<graph_object>()));
}

status captures::begin_branch(const stream& origin, capturing::mode how, void* handle) {
  const auto branch = find_graph(handle);
  const std::lock_guard lock(guard_);
  forget_ended();
  const bool taken = std::any_of(by_id_.begin(), by_id_.end(),
                                 [&](const auto& each) { return each.second.handle == handle; });
  if (!branch->is_branch() || branch->captured() || taken) {
    return bad_parameter("the graph is no branch of another, or has been captured");
  }
  return begin_as(origin, how, handle);
}

result<void*> captures::end(const stream& origin, const context& where) {
  const std::lock_guard lock(guard_);
  const auto at = by_id_.find(id_of(origin));
  if (at != by_id_.end()) {
    if (auto s = at->second.object->decisions().check_captured(); !s.ok()) return s;
  }
  auto ended = capturing::end(origin);
  if (!ended) {
    forget_ended();
    return ended.error();
  }
  Expects(at != by_id_.end());
  const auto captured = std::move(at->second);
  by_id_.erase(at);
  const auto refused = [&](const status& why) {
    drop(captured);
    return why;
  };
  auto whole = captured.object->decisions().put_into(ended.value());
  if (!whole) return refused(whole.error());
  executable_graph run;
  if (!captured.object->is_branch()) {
    auto made = executable_graph::instantiate(where, whole.value());
    if (!made) return refused(made.error());
    run = std::move(made).value();
  }
  captured.object->fill(std::move(whole).value(), std::move(run));
  return captured.handle;
}

std::shared_ptr<graph_object> captures::object_of(const stream& which) const {
  const std::lock_guard lock(guard_);
  const auto at = by_id_.find(id_of(which));
  return at != by_id_.end() ? at->second.object : nullptr;
}

void* captures::graph_of(const stream& which) const {
  const std::lock_guard lock(guard_);
  const auto at = by_id_.find(id_of(which));
  return at != by_id_.end() ? at->second.handle : nullptr;
}

}  // namespace troupe::acl
