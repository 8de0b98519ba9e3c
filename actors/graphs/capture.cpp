#include "actors/graphs/capture.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "actors/context_record.hpp"
#include "actors/device_record.hpp"
#include "actors/machine.hpp"
#include "actors/process.hpp"
#include "actors/stream_record.hpp"
#include "core/graphs/graph_codes.hpp"

namespace troupe {

std::atomic<std::uint32_t> capture::active = 0;

namespace {

using frontier_nodes = std::vector<std::uint32_t>;

struct session {
  struct member {
    std::shared_ptr<stream_record> stream;
    frontier_nodes edge;
  };

  std::uint64_t id = 0;
  capture_mode mode = capture_mode::global;
  std::uint32_t thread = 0;
  std::shared_ptr<stream_record> origin;
  std::map<std::uint64_t, member> members; // by stream
  std::vector<std::pair<const void*, frontier_nodes>> events;
  graph_ir graph{"captured"};
  status spoiled;
};

std::mutex guard;
std::vector<std::unique_ptr<session>> sessions; // those in progress; under the guard
std::uint64_t last_id = 0;
thread_local capture_mode thread_mode = capture_mode::global;

// All below are called under the guard.

session* session_of(const stream_record& stream) {
  for (const auto& each : sessions) {
    const auto found = each->members.find(stream.id());
    if (found != each->members.end() && found->second.stream.get() == &stream) return each.get();
  }
  return nullptr;
}

// What the record of `event` in that capture stands for; null for none.
const frontier_nodes* edge_of(const session& s, const void* event) {
  const auto found = std::find_if(s.events.begin(), s.events.end(),
                                  [event](const auto& each) { return each.first == event; });
  return found != s.events.end() ? &found->second : nullptr;
}

session* session_of_event(const void* event) {
  for (const auto& each : sessions) {
    if (edge_of(*each, event) != nullptr) return each.get();
  }
  return nullptr;
}

bool is_default(const stream_record& stream) {
  return stream.context().default_stream().get() == &stream;
}

std::string name_of(const stream_record& stream) {
  return "stream " + std::to_string(stream.id());
}

void add_to(frontier_nodes& edge, const frontier_nodes& more) {
  for (const auto each : more) {
    if (std::find(edge.begin(), edge.end(), each) == edge.end()) edge.push_back(each);
  }
}

status check_default(const stream_record& stream, const char* what) {
  if (!is_default(stream)) return {};
  for (const auto& each : sessions) {
    if (&each->origin->context() != &stream.context()) continue;
    return make_status(graph_codes::capture_implicit,
                       std::string(what) + " the default stream of context " +
                           std::to_string(stream.context().id()) + " while " +
                           name_of(*each->origin) + " captures");
  }
  return {};
}

// Takes out of `edge` what another of it follows directly: the order stays the same.
void drop_implied(const graph_ir& graph, frontier_nodes& edge) {
  if (edge.size() < 2) return;
  std::vector<std::uint32_t> implied;
  for (const auto each : edge) add_to(implied, graph.nodes()[each].after);
  std::erase_if(edge, [&](auto each) {
    return std::find(implied.begin(), implied.end(), each) != implied.end();
  });
}

// What comes before the frontier of the origin, itself included.
std::vector<bool> joined_nodes(const session& s) {
  std::vector<bool> seen(s.graph.nodes().size(), false);
  auto open = s.members.at(s.origin->id()).edge;
  while (!open.empty()) {
    const auto at = open.back();
    open.pop_back();
    if (seen[at]) continue;
    seen[at] = true;
    for (const auto each : s.graph.nodes()[at].after) open.push_back(each);
  }
  return seen;
}

std::string unjoined_streams(const session& s) {
  const auto joined = joined_nodes(s);
  std::string names;
  for (const auto& [id, member] : s.members) {
    const bool whole = std::all_of(member.edge.begin(), member.edge.end(),
                                   [&](auto each) { return joined[each]; });
    if (whole) continue;
    names += (names.empty() ? "" : ", ") + name_of(*member.stream);
  }
  return names;
}

std::unique_ptr<session> remove(const session& ended) {
  const auto at = std::find_if(sessions.begin(), sessions.end(),
                               [&](const auto& each) { return each.get() == &ended; });
  auto taken = std::move(*at);
  sessions.erase(at);
  taken->origin->context().device().stream_count.fetch_sub(1, std::memory_order_relaxed);
  return taken;
}

// Streams that ended took their captures with them.
std::size_t remove_ended() {
  std::size_t removed = 0;
  for (std::size_t i = sessions.size(); i > 0; --i) {
    const auto& each = *sessions[i - 1];
    if (!each.origin->closed() && each.origin->home().check_alive().ok()) continue;
    (void)remove(each);
    ++removed;
  }
  return removed;
}

status take_slot(const stream_record& origin) {
  auto& device = origin.context().device();
  const auto limit = device.profile().stream_limit;
  const auto before = device.stream_count.fetch_add(1, std::memory_order_relaxed);
  if (before < limit) return {};
  device.stream_count.fetch_sub(1, std::memory_order_relaxed);
  error_record record;
  record.what = code::no_stream_resource;
  record.message = "a capture needs a stream, and device " + std::to_string(device.index()) +
                   " has " + std::to_string(limit) + ", its limit";
  record.device = device.index();
  record.context = origin.context().id();
  record.lacking = shortage{"streams", 1, before, limit};
  return status(std::move(record));
}

} // namespace

status capture::begin(const std::shared_ptr<stream_record>& origin, capture_mode mode) {
  const std::lock_guard lock(guard);
  active.fetch_sub(static_cast<std::uint32_t>(remove_ended()), std::memory_order_relaxed);
  if (is_default(*origin)) {
    return make_status(code::not_supported,
                       name_of(*origin) + " is its context's default stream, which cannot capture");
  }
  if (session_of(*origin) != nullptr) {
    return make_status(graph_codes::stream_captured, name_of(*origin) + " captures already");
  }
  if (auto s = take_slot(*origin); !s.ok()) return s;
  auto made = std::make_unique<session>();
  made->id = ++last_id;
  made->mode = mode;
  made->thread = this_thread_number();
  made->origin = origin;
  made->members.emplace(origin->id(), session::member{origin, {}});
  sessions.push_back(std::move(made));
  active.fetch_add(1, std::memory_order_relaxed);
  return {};
}

result<capture::captured> capture::end(const stream_record& origin) {
  std::unique_ptr<session> ended; // let go without the lock
  const std::lock_guard lock(guard);
  const auto* s = session_of(origin);
  if (s == nullptr) {
    return make_status(graph_codes::stream_not_captured, name_of(origin) + " does not capture");
  }
  if (s->origin.get() != &origin) {
    return make_status(graph_codes::capture_unmatched, name_of(origin) +
                                                           " only joined the capture of " +
                                                           name_of(*s->origin));
  }
  if (s->mode != capture_mode::relaxed && s->thread != this_thread_number()) {
    return make_status(graph_codes::capture_wrong_thread,
                       "the capture of " + name_of(origin) + " was begun by thread " +
                           std::to_string(s->thread));
  }
  ended = remove(*s);
  active.fetch_sub(1, std::memory_order_relaxed);
  if (!ended->spoiled.ok()) {
    error_record record;
    record.what = graph_codes::capture_invalidated;
    record.message = "the capture of " + name_of(origin) + " was spoiled";
    record.stream = origin.id();
    record.cause = ended->spoiled.record();
    return status(std::move(record));
  }
  if (const auto names = unjoined_streams(*ended); !names.empty()) {
    return make_status(graph_codes::stream_unjoined,
                       "not joined to " + name_of(origin) + " when its capture ended: " + names);
  }
  return captured{std::move(ended->graph), origin.context().id()};
}

capture::state capture::look(const stream_record& stream) {
  const std::lock_guard lock(guard);
  const auto* s = session_of(stream);
  if (s == nullptr) return {};
  return {s->spoiled.ok() ? capture_status::active : capture_status::invalidated, s->id,
          s->graph.nodes().size(), s->origin.get() == &stream};
}

capture_mode capture::exchange_mode(capture_mode mode) noexcept {
  return std::exchange(thread_mode, mode);
}

std::optional<status> capture::take(stream_record& target, graph_node work) {
  const std::lock_guard lock(guard);
  auto* s = session_of(target);
  if (s == nullptr) {
    auto refused = check_default(target, "work for");
    return refused.ok() ? std::nullopt : std::optional(std::move(refused));
  }
  auto& edge = s->members.at(target.id()).edge;
  const auto index = s->graph.add(std::move(work));
  if (!index) {
    if (s->spoiled.ok()) s->spoiled = index.error();
    return index.error();
  }
  drop_implied(s->graph, edge);
  for (const auto each : edge) (void)s->graph.depend(each, index.value());
  edge.assign(1, index.value());
  return status{};
}

std::optional<status> capture::take(stream_record& target, command& c) {
  if (look(target).status == capture_status::none) {
    const std::lock_guard lock(guard);
    auto refused = check_default(target, "work for");
    return refused.ok() ? std::nullopt : std::optional(std::move(refused));
  }
  graph_node made;
  made.name = c.name;
  made.kind = node_kind::work;
  made.work = std::make_shared<command>(std::move(c));
  if (auto taken = take(target, std::move(made))) return taken;
  return make_status(graph_codes::capture_invalidated,
                     "the capture of " + name_of(target) + " ended as work was submitted");
}

status capture::submit(stream_record& target, command&& c) {
  if (any()) [[unlikely]] {
    if (auto taken = take(target, c)) return *taken;
  }
  return target.submit(std::move(c));
}

status capture::refusal_on(const stream_record& stream, const char* call) {
  const std::lock_guard lock(guard);
  if (session_of(stream) == nullptr) return check_default(stream, call);
  return make_status(graph_codes::stream_captured,
                     std::string(call) + ": " + name_of(stream) + " captures");
}

status capture::refusal_in(const context_record& context, const char* call) {
  const std::lock_guard lock(guard);
  for (const auto& each : sessions) {
    if (&each->origin->context() != &context) continue;
    return make_status(graph_codes::stream_captured, std::string(call) + ": " +
                                                         name_of(*each->origin) +
                                                         " of the context captures");
  }
  return {};
}

status capture::refusal_of_event(const void* event, const char* call) {
  const std::lock_guard lock(guard);
  const auto* s = session_of_event(event);
  if (s == nullptr) return {};
  return make_status(graph_codes::event_captured, std::string(call) +
                                                      ": the event was recorded in the capture of " +
                                                      name_of(*s->origin));
}

status capture::refusal_of_unsafe(const char* call) {
  if (thread_mode == capture_mode::relaxed) return {};
  const std::lock_guard lock(guard);
  for (const auto& each : sessions) {
    const bool own = each->thread == this_thread_number();
    const bool forbids = own ? each->mode != capture_mode::relaxed
                             : each->mode == capture_mode::global &&
                                   thread_mode == capture_mode::global;
    if (!forbids) continue;
    return make_status(graph_codes::capture_mode,
                       std::string(call) + " is not allowed while " + name_of(*each->origin) +
                           " captures in " + (each->mode == capture_mode::global ? "global"
                                                                                : "thread-local") +
                           " mode");
  }
  return {};
}

std::optional<status> capture::record(const void* event, stream_record& stream) {
  const std::lock_guard lock(guard);
  for (const auto& each : sessions) {
    std::erase_if(each->events, [event](const auto& known) { return known.first == event; });
  }
  auto* s = session_of(stream);
  if (s == nullptr) {
    auto refused = check_default(stream, "a record on");
    return refused.ok() ? std::nullopt : std::optional(std::move(refused));
  }
  s->events.emplace_back(event, s->members.at(stream.id()).edge);
  return status{};
}

std::optional<status> capture::wait(const void* event, bool recorded,
                                    const std::shared_ptr<stream_record>& stream) {
  const std::lock_guard lock(guard);
  auto* from = session_of_event(event);
  auto* to = session_of(*stream);
  if (from == nullptr && to == nullptr) {
    auto refused = check_default(*stream, "a wait on");
    return refused.ok() ? std::nullopt : std::optional(std::move(refused));
  }
  if (from == nullptr) {
    if (!recorded) return status{};
    return make_status(graph_codes::capture_dependency,
                       name_of(*stream) + " captures and would wait for work outside the capture");
  }
  if (to != nullptr && to != from) {
    return make_status(graph_codes::capture_conflict,
                       "the wait would merge the captures of " + name_of(*from->origin) + " and " +
                           name_of(*to->origin));
  }
  if (auto s = check_default(*stream, "a wait on"); !s.ok()) return s;
  if (&stream->context() != &from->origin->context()) {
    return make_status(graph_codes::capture_dependency,
                       name_of(*stream) + " is of another context than the capture of " +
                           name_of(*from->origin));
  }
  auto& member = from->members.try_emplace(stream->id(), session::member{stream, {}}).first->second;
  add_to(member.edge, *edge_of(*from, event));
  return status{};
}

} // namespace troupe
