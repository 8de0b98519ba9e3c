#include <algorithm>
#include <atomic>
#include <mutex>

#include <caf/actor_registry.hpp>

#include "actors/context_actor.hpp"
#include "actors/context_record.hpp"
#include "actors/machine.hpp"
#include "actors/process.hpp"
#include "actors/scheduling/spawn.hpp"
#include "actors/waiting.hpp"

namespace troupe {
namespace {

// Machines whose threads never came back from user code, or that were inherited by a forked child:
// kept for good, as somebody may still touch them.
void bury(std::shared_ptr<machine> remains) {
  static std::mutex guard;
  static auto& graves = *new std::vector<std::shared_ptr<machine>>;
  const std::lock_guard lock(guard);
  graves.push_back(std::move(remains));
}

struct nobody_left {
  const caf::actor_registry* registry;

  static bool ready(const void* self) {
    return static_cast<const nobody_left*>(self)->registry->running() == 0;
  }
};

bool none_left(const void* count) {
  return static_cast<const std::atomic<std::size_t>*>(count)->load() == 0;
}

} // namespace

std::vector<std::shared_ptr<context_record>> machine::all_contexts() const {
  std::vector<std::shared_ptr<context_record>> all;
  for (const auto& each : devices_) {
    for (auto& context : each->contexts()) all.push_back(std::move(context));
  }
  return all;
}

std::vector<std::string> machine::shut_down() {
  if (stopping_.exchange(true)) return {};
  const std::lock_guard lock(start_guard_); // a start under way ends first
  if (!started_) return {};
  if (started_in_process_.load() != fork_generation()) {
    bury(shared_from_this());
    return {};
  }
  const auto bound = time_ns{1'000'000} * options_.stop_bound_ms;
  drain(after(time_->now(), time_ns{1'000'000} * options_.drain_ms));
  drop_work(after(time_->now(), bound));
  end_actors(after(time_->now(), bound));
  auto survivors = scheduler_->join(after(time_->now(), bound));
  if (!survivors.empty()) bury(shared_from_this());
  return survivors;
}

void machine::drain(time_ns deadline) {
  if (options_.drain_ms == 0) return;
  for (const auto& context : all_contexts()) {
    for (const auto& stream : context->streams()) {
      (void)wait_for_number(room(), *stream->line(), stream->line()->submitted(), deadline);
    }
  }
}

// Contexts drop the work of their streams; what runs is told to stop and gets until `deadline`. A
// context answers when no submission gets in any more: a stream that is idle then stays so.
void machine::drop_work(time_ns deadline) {
  const auto contexts = all_contexts();
  std::vector<std::shared_ptr<stream_record>> streams;
  const auto left = std::make_shared<std::atomic<std::size_t>>(contexts.size());
  for (const auto& context : contexts) {
    for (auto& stream : context->streams()) streams.push_back(std::move(stream));
    post(context->actor, destroy_context{reply<status>([left](status) { left->fetch_sub(1); })});
  }
  {
    const lending_scope lending(room());
    (void)room().poll_until({&none_left, left.get()}, deadline);
  }
  for (const auto& stream : streams) {
    auto& line = *stream->line();
    // The abort itself ends one wait early.
    for (int rounds = 0; rounds < 3 && !line.idle(); ++rounds) {
      (void)wait_for_number(room(), line, line.submitted(), deadline);
    }
  }
}

void machine::end_actors(time_ns deadline) {
  for (const auto& each : devices_) {
    if (!is_open(each->index())) continue;
    for (std::size_t i = 0; i < engine_kind_count; ++i) {
      each->port(static_cast<engine_kind>(i)).end_engines();
    }
    caf::anon_send_exit(each->actor, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(each->memory_keeper, caf::exit_reason::user_shutdown);
  }
  caf::anon_send_exit(host_memory_keeper_, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(root_, caf::exit_reason::user_shutdown);
  const nobody_left goal{&system_->registry()};
  const lending_scope lending(room());
  (void)room().poll_until({&nobody_left::ready, &goal}, deadline);
}

} // namespace troupe
