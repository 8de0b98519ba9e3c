#include "actors/device_record.hpp"

#include <string>

#include "actors/context_record.hpp"
#include "actors/device_actor.hpp"
#include "actors/engine_actor.hpp"
#include "actors/faults/fault_gate.hpp"
#include "actors/machine.hpp"
#include "actors/scheduling/spawn.hpp"
#include "actors/stream_actor.hpp"

namespace troupe {
namespace {

std::size_t engines_max(engine_kind kind, const machine& home) {
  switch (kind) {
    case engine_kind::compute: return home.compute_threads();
    case engine_kind::callback: return home.options().callback_threads_max;
    case engine_kind::dma_h2d:
    case engine_kind::dma_d2h:
    case engine_kind::dma_d2d: break;
  }
  return 1;
}

} // namespace

device_record::device_record(machine& home, std::uint32_t index, device_profile profile)
    : home_(home), index_(index), profile_(std::move(profile)),
      slots_(home, profile_.queue_slots), outage_(index) {
  for (std::size_t i = 0; i < engine_kind_count; ++i) {
    const auto kind = static_cast<engine_kind>(i);
    ports_[i] = std::make_unique<engine_port>(
        kind, engines_max(kind, home), [&home](engine_port& port, engine_load& load) {
          return spawn_actor<engine_actor>(home.system(), std::ref(home), std::ref(port),
                                     std::ref(load));
        },
        slots_, home.gate());
  }
}

device_counters device_record::counters() const {
  if (home_.inherited()) return {}; // whoever holds the ports' locks is not in this process
  const auto now = home_.time().now();
  const auto of = [&](engine_kind kind) {
    return ports_[static_cast<std::size_t>(kind)]->snapshot(now);
  };
  device_counters seen;
  seen.compute = of(engine_kind::compute);
  seen.dma_h2d = of(engine_kind::dma_h2d);
  seen.dma_d2h = of(engine_kind::dma_d2h);
  seen.dma_d2d = of(engine_kind::dma_d2d);
  seen.callback = of(engine_kind::callback);
  seen.slots = slots_.snapshot();
  seen.streams = stream_count.load(std::memory_order_relaxed);
  seen.events = events();
  seen.allocations = memory ? memory->allocations() : 0;
  seen.elapsed_ns = now - home_.began_at();
  seen.engines_max = home_.compute_threads();
  return seen;
}

std::uint64_t device_record::load() const {
  const auto seen = counters();
  std::uint64_t sum = seen.slots.waiting;
  for (const auto* each : {&seen.compute, &seen.dma_h2d, &seen.dma_d2h, &seen.dma_d2d}) {
    sum += each->waiting + each->running;
  }
  return sum;
}

// -- presence -----------------------------------------------------------------

status device_record::why_lost() const {
  const std::lock_guard lock(guard_);
  return why_lost_;
}

void device_record::lose(const status& why) {
  {
    const std::lock_guard lock(guard_);
    ++absences_;
    if (why_lost_.ok()) why_lost_ = why;
    lost_.store(true, std::memory_order_release);
  }
  for (const auto& each : contexts()) (void)each->poison_by(why);
}

device_health device_record::health() const noexcept {
  if (lost()) return device_health::lost;
  if (const auto state = outage_.state(); state != device_health::usable) return state;
  if (entered.load(std::memory_order_acquire)) return device_health::usable;
  return entering.load(std::memory_order_acquire) != 0 ? device_health::starting
                                                       : device_health::unused;
}

void device_record::tell_contexts(const status& why) {
  for (const auto& each : contexts()) each->set_device_trouble(why);
  if (why.ok()) return;
  for (const auto& each : contexts()) each->drop_poisoned();
}

void device_record::note_memory_fault(const command& c, const status& failure) {
  memory_fault fault;
  fault.failure = failure;
  const auto keep = [](void* all, const access_range& range) {
    auto& parts = static_cast<memory_fault*>(all)->parts;
    if (range.mode == access_mode::read || range.bytes == 0) return;
    if (parts.size() == memory_fault::parts_max) return;
    parts.push_back({range.base, range.bytes});
  };
  if (c.op != nullptr && c.op->ranges != nullptr) c.op->ranges(c.payload(), {keep, &fault});
  if (outage_.fault(std::move(fault)) && health() == device_health::faulted) tell_contexts(failure);
}

// -- the keepers ----------------------------------------------------------------

void device_record::keeper_died(keeper_handle& keeper, const actor_base& who) {
  if (home_.stopping()) return;
  {
    const std::lock_guard lock(guard_);
    dead_.push_back(&keeper);
  }
  error_record record;
  record.what = code::lost_heartbeat;
  record.message = "device " + std::to_string(index_) + " was lost, as its actor " +
                   fault_gate::name_of(who) + " has died";
  record.device = index_;
  if (auto* gate = home_.gate()) record.plan_entry = gate->entry_that_killed(who);
  lose(status(std::move(record)));
  come_back(); // it is as good as ever once others have taken their place
  drop_work();
}

void device_record::revive_keepers() {
  std::vector<keeper_handle*> dead;
  {
    const std::lock_guard lock(guard_);
    dead.swap(dead_);
  }
  for (auto* each : dead) {
    each->replace([&] {
      return each == &actor ? spawn_device_keeper(*this) : spawn_memory_keeper(*this);
    });
  }
}

void device_record::drop_work() {
  for (const auto& context : contexts()) context->drop_poisoned();
}

void device_record::come_back() {
  const std::lock_guard lock(guard_);
  if (absences_ > 0) --absences_;
}

void device_record::stay() {
  const std::lock_guard lock(guard_);
  absences_ = 0;
}

status device_record::restore() {
  const std::lock_guard lock(guard_);
  if (absences_ > 0) return why_lost_;
  outage_.reset();
  why_lost_ = {};
  lost_.store(false, std::memory_order_release);
  return {};
}

// -- events -------------------------------------------------------------------

status device_record::add_event() {
  const auto limit = profile_.event_limit;
  const auto before = events_->fetch_add(1);
  if (before >= limit) {
    events_->fetch_sub(1);
    error_record record;
    record.what = code::no_event_resource;
    record.message = "device " + std::to_string(index_) + " has " + std::to_string(limit) +
                     " events in use, its limit";
    record.device = index_;
    record.lacking = shortage{"events", 1, before, limit};
    return status(std::move(record));
  }
  return {};
}

void device_record::add(const std::shared_ptr<context_record>& context) {
  const std::lock_guard lock(guard_);
  contexts_.emplace(context->id(), context);
}

void device_record::forget(std::uint64_t context_id) {
  std::shared_ptr<context_record> gone; // released after the lock
  const std::lock_guard lock(guard_);
  const auto found = contexts_.find(context_id);
  if (found == contexts_.end()) return;
  gone = std::move(found->second);
  contexts_.erase(found);
}

std::shared_ptr<context_record> device_record::find(std::uint64_t context_id) const {
  const std::lock_guard lock(guard_);
  const auto found = contexts_.find(context_id);
  return found == contexts_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<context_record>> device_record::contexts() const {
  const std::lock_guard lock(guard_);
  std::vector<std::shared_ptr<context_record>> all;
  all.reserve(contexts_.size());
  for (const auto& each : contexts_) all.push_back(each.second);
  return all;
}

} // namespace troupe
