#include "actors/engine_port.hpp"

#include "actors/engine_actor.hpp"
#include "actors/faults/fault_gate.hpp"
#include "actors/faults/gated_wire.hpp"
#include "actors/scheduling/spawn.hpp"
#include "actors/stream_record.hpp"

namespace troupe {

// The count tells a hand-over that comes late or twice, or that `recover` has brought meanwhile,
// from the one in force.
void engine_port::push_gated(stream_record& stream) {
  const auto by = gate_->at_handoff(stream, kind_);
  std::uint64_t handoff = 0;
  {
    const std::lock_guard lock(guard_);
    handoff = ++stream.handoffs;
    stream.port.store(this, std::memory_order_seq_cst);
  }
  const auto late = by ? gate_->late_until(*by) : std::nullopt;
  if (by && !late && by->action.kind == fault_kind::drop) return;
  auto held = stream.shared_from_this();
  if (by && by->action.kind == fault_kind::reorder) {
    const std::lock_guard lock(guard_);
    overtaken_ = held;
    overtaken_handoff_ = handoff;
    gate_->later(after(gate_->now(), overtaking_patience),
                 [this, held, handoff] { arrive(*held, handoff); });
    return;
  }
  if (late || (by && by->action.kind == fault_kind::duplicate)) {
    gate_->later(late.value_or(0), [this, held, handoff] { arrive(*held, handoff); });
  }
  if (late) return;
  arrive(*held, handoff);
  bring_overtaken(stream);
}

void engine_port::bring_overtaken(const stream_record& by) {
  std::shared_ptr<stream_record> next;
  std::uint64_t handoff = 0;
  {
    const std::lock_guard lock(guard_);
    next = overtaken_.lock();
    if (next.get() == &by) return; // a stream is not overtaken by itself
    overtaken_.reset();
    handoff = overtaken_handoff_;
  }
  if (next) arrive(*next, handoff);
}

void engine_port::arrive(stream_record& stream, std::uint64_t handoff) {
  std::unique_lock lock(guard_);
  const bool awaited = stream.port.load(std::memory_order_relaxed) == this &&
                       stream.port_ticket == 0 && stream.handoffs == handoff;
  if (!awaited) return;
  put_in_line(stream);
  waiting_.fetch_add(1, std::memory_order_relaxed);
  if (closed_.load(std::memory_order_relaxed)) return refuse_all(lock);
  note_priority(stream.priority());
  wake_one(lock);
}

bool engine_port::recover(stream_record& stream) {
  std::uint64_t handoff = 0;
  {
    const std::lock_guard lock(guard_);
    if (stream.port.load(std::memory_order_relaxed) != this || stream.port_ticket != 0) {
      return false;
    }
    handoff = stream.handoffs;
  }
  arrive(stream, handoff);
  return true;
}

bool engine_port::ring_again(time_ns now) {
  std::vector<caf::actor> called;
  {
    const std::lock_guard lock(guard_);
    const bool ringing = ringing_.load(std::memory_order_relaxed) && rung_;
    if (ringing && (has_waiting() || has_jobs())) called.push_back(rung_);
    for (const auto& each : engines_) {
      if (each.load.overdue(now)) called.push_back(each.handle);
    }
  }
  for (const auto& each : called) post(each, doorbell{});
  return !called.empty();
}

} // namespace troupe
