#include "actors/slot_table.hpp"

#include <algorithm>

#include <gsl/gsl>

#include "actors/context_record.hpp"
#include "actors/engine_port.hpp"
#include "actors/machine.hpp"
#include "actors/stream_drive.hpp"
#include "actors/stream_record.hpp"

namespace troupe {

slot_table::slot_table(const machine& home, unsigned slots)
    : limit_(slots), home_(home), slots_(slots) {
  Expects(slots > 0);
  static_assert(priority_count == engine_port::priority_count);
}

// -- the grant's holder ---------------------------------------------------------

// A line makes the word greater than any limit.
bool slot_table::take() noexcept {
  auto seen = state_.load(std::memory_order_relaxed);
  do {
    if (seen >= limit_.load(std::memory_order_relaxed)) return false;
  } while (!state_.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel,
                                         std::memory_order_relaxed));
  auto most = served_high_water_.load(std::memory_order_relaxed);
  while (most <= seen && !served_high_water_.compare_exchange_weak(most, seen + 1)) {
  }
  return true;
}

bool slot_table::keep(stream_record& stream) noexcept {
  if (!stream.slot.held) stream.slot.held = take();
  return stream.slot.held;
}

void slot_table::serve(stream_record& stream, engine_port& at) {
  const bool may_stay = stream.slot.held ? !has_waiting() : keep(stream);
  if (may_stay) [[likely]] return at.push(stream);
  compete(stream, at);
}

void slot_table::compete(stream_record& stream, engine_port& at) {
  std::unique_lock lock(guard_);
  const bool held = std::exchange(stream.slot.held, false);
  put_in_line(stream, at);
  if (held) state_.fetch_sub(1, std::memory_order_acq_rel);
  hand_out(lock); // to this one, maybe, as a slot may have come free just before
}

void slot_table::leave(stream_record& stream) {
  if (!std::exchange(stream.slot.held, false)) return;
  auto seen = state_.load(std::memory_order_relaxed);
  while (seen < one_waiting) {
    if (state_.compare_exchange_weak(seen, seen - 1, std::memory_order_acq_rel,
                                     std::memory_order_relaxed)) {
      return;
    }
  }
  std::unique_lock lock(guard_);
  state_.fetch_sub(1, std::memory_order_acq_rel);
  hand_out(lock);
}

// -- the line, under the lock -----------------------------------------------------

void slot_table::put_in_line(stream_record& stream, engine_port& at) {
  auto& place = stream.slot;
  place.ticket = ++tickets_;
  place.since = home_.time().now();
  place.wanted_at = &at;
  line_.emplace(place_in_line{stream.priority(), place.ticket}, &stream);
  state_.fetch_add(one_waiting, std::memory_order_acq_rel);
  best_waiting_.store(line_.begin()->first.first, std::memory_order_relaxed);
  place.awaited.store(true, std::memory_order_seq_cst); // before its look at the abort mark
}

void slot_table::take_from_line(stream_record& stream) {
  auto& place = stream.slot;
  line_.erase({stream.priority(), place.ticket});
  state_.fetch_sub(one_waiting, std::memory_order_acq_rel);
  best_waiting_.store(line_.empty() ? priority_count : line_.begin()->first.first,
                      std::memory_order_relaxed);
  place.awaited.store(false, std::memory_order_release);
  const auto waited = home_.time().now() - place.since;
  if (waited == 0) return; // it was its turn as it came
  ++waits_;
  waited_ns_ += waited;
  waited_max_ns_ = std::max(waited_max_ns_, waited);
  place.waits.fetch_add(1, std::memory_order_relaxed);
  place.waited_ns.fetch_add(waited, std::memory_order_relaxed);
}

stream_record& slot_table::choose() {
  const auto* found = &*line_.begin();
  if (++choices_ % fairness_interval != 0) return *found->second;
  for (unsigned priority = 0; priority < priority_count; ++priority) {
    const auto first = line_.lower_bound({priority, 0});
    if (first == line_.end() || first->first.first != priority) continue;
    if (first->first.second < found->first.second) found = &*first;
  }
  return *found->second;
}

void slot_table::hand_out(std::unique_lock<std::mutex>& lock) {
  struct chosen {
    std::shared_ptr<stream_record> stream;
    engine_port* at;
  };
  std::vector<chosen> served;
  const auto limit = limit_.load(std::memory_order_relaxed);
  while (!line_.empty() && state_.load(std::memory_order_relaxed) % one_waiting < limit) {
    auto& next = choose();
    served.push_back({next.shared_from_this(), next.slot.wanted_at});
    next.slot.held = true;
    state_.fetch_add(1, std::memory_order_acq_rel);
    take_from_line(next);
  }
  lock.unlock();
  for (const auto& [stream, at] : served) {
    at->push(*stream);
    // Whoever aborted or poisoned it on its way from here to there found no grant to take.
    const bool called_back = stream->line()->completed() < stream->line()->aborted() ||
                             stream->context().poisoned();
    if (called_back && stream->seize()) drive(*stream, nullptr);
  }
}

// -- any thread ---------------------------------------------------------------------

bool slot_table::remove(stream_record& stream) {
  const std::lock_guard lock(guard_);
  if (!stream.slot.awaited.load(std::memory_order_relaxed)) return false;
  take_from_line(stream);
  return true;
}

void slot_table::end() {
  std::unique_lock lock(guard_);
  limit_.store(one_waiting - 1, std::memory_order_relaxed);
  hand_out(lock);
}

slot_counters slot_table::snapshot() const {
  const std::lock_guard lock(guard_);
  slot_counters seen;
  seen.slots = slots_;
  seen.served = state_.load(std::memory_order_relaxed) % one_waiting;
  seen.served_high_water = served_high_water_.load(std::memory_order_relaxed);
  seen.waiting = line_.size();
  seen.waits = waits_;
  seen.waited_ns = waited_ns_;
  seen.waited_max_ns = waited_max_ns_;
  return seen;
}

} // namespace troupe
