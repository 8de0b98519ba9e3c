#include <algorithm>
#include <atomic>
#include <mutex>

#include <caf/actor_registry.hpp>

#include "actors/context_actor.hpp"
#include "actors/context_record.hpp"
#include "actors/faults/fault_gate.hpp"
#include "actors/faults/gated_wire.hpp"
#include "actors/faults/owed_account.hpp"
#include "actors/faults/recovery.hpp"
#include "actors/machine.hpp"
#include "actors/process.hpp"
#include "actors/scheduling/spawn.hpp"
#include "actors/simulation/simulation.hpp"
#include "actors/simulation/witness.hpp"
#include "actors/waiting.hpp"

namespace troupe {
namespace {

// Machines whose threads never came back from user code, or that were inherited by a forked child:
// kept for good, as somebody may still touch them.
// Without a lock: a forked child would find it held.
void bury(std::shared_ptr<machine> remains) {
  struct grave {
    std::shared_ptr<machine> remains;
    grave* next;
  };
  static std::atomic<grave*> newest = nullptr;
  auto* made = new grave{std::move(remains), newest.load(std::memory_order_relaxed)};
  while (!newest.compare_exchange_weak(made->next, made)) {
  }
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

// How often losses are looked for while the runtime ends: its bounds may be shorter than the usual
// interval.
constexpr time_ns looks_per_bound = 4;

} // namespace

std::vector<std::shared_ptr<context_record>> machine::all_contexts() const {
  std::vector<std::shared_ptr<context_record>> all;
  for (const auto& each : devices_) {
    for (auto& context : each->contexts()) all.push_back(std::move(context));
  }
  return all;
}

std::vector<std::string> machine::shut_down() {
  const bool further = stopping_.exchange(true);
  if (inherited()) {
    if (!further) bury(shared_from_this());
    return {};
  }
  { const std::lock_guard lock(start_guard_); } // a start under way ends first
  if (!started_) {
    if (!further && owed_ != nullptr) settle(*owed_);
    return {};
  }
  if (further) return await_end();
  if (wire_) wire_->let_go();
  const auto bound = time_ns{1'000'000} * options_.stop_bound_ms;
  drain(after(time_->now(), time_ns{1'000'000} * options_.drain_ms));
  drop_work(after(time_->now(), bound));
  end_actors(after(time_->now(), bound));
  if (lookout_) play_->strike_off(*lookout_);
  survivors_ = scheduler_->join(after(time_->now(), bound));
  give_mapped_back();
  if (witness_ != nullptr) close_accounts();
  give_memory_back(survivors_.empty());
  if (owed_ != nullptr) settle(*owed_);
  if (!survivors_.empty()) bury(shared_from_this());
  const auto survivors = survivors_; // others may end this machine as soon as they are told
  (void)end_line_->complete(1);
  return survivors;
}

std::vector<std::string> machine::await_end() {
  (void)wait_for_number(room(), *end_line_, 1, never_ns);
  return survivors_;
}

void machine::abandon() {
  if (stopping_.exchange(true) || (!started_ && !inherited())) return;
  bury(shared_from_this());
  if (inherited()) return;
  for (const auto& context : all_contexts()) {
    post(context->actor, destroy_context{no_reply<status>()});
  }
  (void)end_line_->complete(1);
}

// What the runtime handed out is back, whatever handles there are; pinned memory is its holder's.
// In quarantine may be what an engine worked on that did not return before it was ended.
void machine::close_accounts() {
  for (const auto& each : devices_) {
    if (!is_open(each->index())) continue;
    const auto here = " of device " + std::to_string(each->index());
    each->memory->sweep(SIZE_MAX);
    const auto memory = each->memory->info();
    witness_->account("bytes" + here, memory.used - memory.quarantined);
    witness_->account("streams" + here, each->stream_count.load());
    witness_->account("contexts" + here, each->contexts().size());
  }
  for (const auto& each : survivors_) witness_->survivor("thread " + each);
  if (const auto left = system_->registry().running(); left != 0) {
    witness_->survivor(std::to_string(left) + " actors");
  }
  if (const auto left = play_->left_of(*scheduler_); left != 0) {
    witness_->survivor(std::to_string(left) + " timers, pieces of work or messages");
  }
}

// What programs mapped themselves is no context's. Its pages go with the mappings.
void machine::give_mapped_back() {
  for (const auto& each : devices_) {
    if (each->space.load() != nullptr) each->memory->free_all(0, {});
  }
}

// Handles keep the machine, but not its memory: only pinned memory is read through them. A thread
// that has not come back from user code may touch whatever it was given.
void machine::give_memory_back(bool all_returned) {
  using rest = memory_record::still_used;
  for (const auto& each : devices_) {
    if (is_open(each->index())) each->memory->end(all_returned ? rest::nothing : rest::retired);
  }
  host_memory_->end(all_returned ? rest::blocks : rest::retired);
}

void machine::drain(time_ns deadline) {
  if (options_.drain_ms == 0) return;
  for (const auto& context : all_contexts()) {
    for (const auto& stream : context->streams()) {
      (void)wait_for_number(room(), *stream->line(), stream->line()->submitted(), deadline);
    }
  }
}

// Has `wait` wait until `deadline` for something to be over, which it answers.
void machine::await_end_of(const std::function<bool(time_ns)>& wait, time_ns deadline) {
  const auto pause = time_ns{1'000'000} * options_.stop_bound_ms / looks_per_bound;
  while (gate_ && after(time_->now(), pause) < deadline) {
    if (wait(after(time_->now(), pause))) return;
    (void)recover_losses(*this);
  }
  (void)wait(deadline);
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
  const auto contexts_end = [&](time_ns until) {
    const lending_scope lending(room());
    return room().poll_until({&none_left, left.get()}, until);
  };
  const auto streams_end = [&](time_ns until) {
    bool all_idle = true;
    for (const auto& stream : streams) {
      auto& line = *stream->line();
      // The abort itself ends one wait early.
      for (int rounds = 0; rounds < 3 && !line.idle(); ++rounds) {
        (void)wait_for_number(room(), line, line.submitted(), until);
      }
      all_idle = all_idle && line.idle();
    }
    return all_idle;
  };
  await_end_of(contexts_end, deadline);
  await_end_of(streams_end, deadline);
}

void machine::end_actors(time_ns deadline) {
  for (const auto& each : devices_) {
    if (!is_open(each->index())) continue;
    for (std::size_t i = 0; i < engine_kind_count; ++i) {
      each->port(static_cast<engine_kind>(i)).end_engines();
    }
    each->slots().end();
    each->actor.end();
    each->memory_keeper.end();
  }
  for (auto* each : {&notifier_, &host_memory_keeper_, &root_}) each->end();
  const nobody_left goal{&system_->registry()};
  const auto actors_end = [&](time_ns until) {
    const lending_scope lending(room());
    return room().poll_until({&nobody_left::ready, &goal}, until);
  };
  await_end_of(actors_end, deadline);
}

} // namespace troupe
