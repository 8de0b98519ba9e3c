// Parts of a captured graph that get other work later: what a stream is given between the marks of a
// group, and what takes its place.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <acl/acl.h>
#include <gsl/gsl>

#include "actors/graphs/executable.hpp"
#include "api/acl/src/call.hpp"
#include "api/acl/src/captures.hpp"
#include "api/acl/src/for_good.hpp"
#include "api/acl/src/objects.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

constexpr auto group_status = static_cast<code>(107033);
constexpr auto group_interrupted = static_cast<code>(107034);

// What a group's handle stands for: the nodes [first, end) of a graph.
struct group_object {
  std::weak_ptr<graph_object> graph;
  std::uint32_t first;
  std::uint32_t end;
};

// Groups that streams are in the middle of, by the stream's id: as they are captured, and as they
// get other work.
struct progress {
  struct beginning {
    std::uint64_t capture;
    std::uint32_t first;
  };
  std::mutex guard;
  std::map<std::uint64_t, beginning> captured;
  std::map<std::uint64_t, std::shared_ptr<group_object>> updated;
};

progress& all() {
  return for_good<progress>();
}

status wrong_order(const std::string& what) {
  return make_status(group_status, what);
}

// What `which` captures now; 107029 for nothing.
result<capturing::info> captured_by(const stream& which) {
  auto seen = capturing::look(which);
  if (!seen || seen.value().id != 0) return seen;
  return make_status(code::stream_not_captured,
                     "stream " + std::to_string(which.id()) + " does not capture");
}

status begin_group(const stream& which) {
  const auto seen = captured_by(which);
  if (!seen) return seen.error();
  const progress::beginning now{seen.value().id, gsl::narrow<std::uint32_t>(seen.value().nodes)};
  auto& known = all();
  const std::lock_guard lock(known.guard);
  if (known.updated.count(which.id()) != 0) return wrong_order("the stream updates a group");
  const auto open = known.captured.find(which.id());
  if (open != known.captured.end() && open->second.capture == now.capture) {
    return wrong_order("a group of the stream has begun already");
  }
  known.captured.insert_or_assign(which.id(), now);
  return {};
}

result<void*> end_group(const stream& which) {
  const auto seen = captured_by(which);
  if (!seen) return seen.error();
  auto& known = all();
  const std::lock_guard lock(known.guard);
  const auto open = known.captured.find(which.id());
  if (open == known.captured.end() || open->second.capture != seen.value().id) {
    return wrong_order("no group of the stream has begun");
  }
  const auto first = open->second.first;
  const auto end = gsl::narrow<std::uint32_t>(seen.value().nodes);
  auto* const name = captures::instance().graph_of(which);
  if (first == end || name == nullptr) return wrong_order("the group has no work");
  const auto graph = find_graph(name);
  auto* const handle = new_handle(handle_kind::task_group,
                                  std::make_shared<group_object>(group_object{graph, first, end}));
  graph->own(handle_kind::task_group, handle);
  known.captured.erase(open);
  return handle;
}

// A group is a chain: work of other streams in between would be updated with it.
status check_chain(const graph_ir& content, const group_object& group) {
  for (auto i = group.first + 1; i < group.end; ++i) {
    const auto& after = content.nodes()[i].after;
    if (after.size() == 1 && after[0] == i - 1) continue;
    return make_status(group_interrupted, "node " + std::to_string(i) +
                                              " of the group is work of another stream, or waits "
                                              "for some");
  }
  return {};
}

status begin_update(const stream& which, void* handle) {
  auto found = handle_table::instance().find(handle_kind::task_group, handle);
  if (!found) return invalid_handle("group of tasks");
  auto group = std::static_pointer_cast<group_object>(std::move(found));
  const auto graph = group->graph.lock();
  if (!graph) return invalid_handle("group of tasks");
  if (auto s = check_chain(graph->content().content(), *group); !s.ok()) return s;
  auto& known = all();
  const std::lock_guard lock(known.guard);
  if (auto s = capturing::begin(which, capturing::mode::relaxed); !s.ok()) return s;
  known.updated.insert_or_assign(which.id(), std::move(group));
  return {};
}

// Other work for the nodes of `group`, one for one; all of it or, after a failure, none.
status give(const group_object& group, const graph_ir& work) {
  const auto graph = group.graph.lock();
  if (!graph) return invalid_handle("group of tasks");
  const auto count = group.end - group.first;
  if (work.nodes().size() != count) {
    return bad_parameter("an update of " + std::to_string(work.nodes().size()) +
                         " tasks for a group of " + std::to_string(count));
  }
  const auto run = graph->run();
  const auto now = run.state()->content();
  std::vector<executable::change> changes;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto& made = work.nodes()[i].work;
    const auto& old = now.nodes()[group.first + i].work;
    if (made && old && made->blocks != old->blocks) {
      return bad_parameter("task " + std::to_string(i) + " of an update has " +
                           std::to_string(made->blocks) + " blocks; the group's has " +
                           std::to_string(old->blocks));
    }
    if (!made) return bad_parameter("task " + std::to_string(i) + " of an update does nothing");
    changes.push_back({group.first + i, made});
  }
  return run.state()->update(changes);
}

status end_update(const stream& which) {
  auto& known = all();
  std::shared_ptr<group_object> group;
  {
    const std::lock_guard lock(known.guard);
    const auto open = known.updated.find(which.id());
    if (open == known.updated.end()) return wrong_order("the stream updates no group");
    group = std::move(open->second);
    known.updated.erase(open);
  }
  auto ended = capturing::end(which);
  return ended ? give(*group, ended.value().content()) : ended.error();
}

}  // namespace

aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream) {
  return call([&] { return begin_group(stream_for_work(stream)); });
}

aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp* handle) {
  return call([&]() -> status {
    if (handle == nullptr) return bad_argument("aclmdlRICaptureTaskGrpEnd: handle is null");
    const auto made = end_group(stream_for_work(stream));
    if (!made) return made.error();
    *handle = made.value();
    return {};
  });
}

aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle) {
  return call([&]() -> status {
    if (handle == nullptr) return bad_argument("aclmdlRICaptureTaskUpdateBegin: handle is null");
    return begin_update(stream_for_work(stream), handle);
  });
}

aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream) {
  return call([&] { return end_update(stream_for_work(stream)); });
}
