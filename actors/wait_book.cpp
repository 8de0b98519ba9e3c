#include "actors/wait_book.hpp"

#include <algorithm>
#include <utility>

namespace troupe {
namespace {

// Streams on the way from one that waits to the work: chains of waits may form rings.
constexpr unsigned depth_max = 8;

} // namespace

void wait_book::note(const timeline& waiter, std::uint64_t number, const ticket& work) {
  const std::lock_guard lock(guard_);
  used_.store(true, std::memory_order_release);
  auto& known = waits_[waiter.id()];
  const auto [at, fresh] = known.try_emplace(work.line->id(), wait{number, work});
  // An older record may be waited for last: the greater promise counts, unless it was dropped.
  const bool dropped = at->second.number <= waiter.aborted();
  if (!fresh && (dropped || at->second.work.number <= work.number)) at->second = {number, work};
}

bool wait_book::comes_after(const timeline& waiter, const ticket& work) const {
  if (!used_.load(std::memory_order_acquire)) return false;
  const std::lock_guard lock(guard_);
  return reaches(waiter, UINT64_MAX, work, depth_max);
}

// Whether what follows command `up_to` of `waiter` comes after `work`.
bool wait_book::reaches(const timeline& waiter, std::uint64_t up_to, const ticket& work,
                        unsigned depth) const {
  const auto known = waits_.find(waiter.id());
  if (known == waits_.end() || depth == 0) return false;
  return std::any_of(known->second.begin(), known->second.end(), [&](const auto& entry) {
    const auto& each = entry.second;
    if (each.number > up_to || each.number <= waiter.aborted()) return false;
    if (each.work.line == work.line) return each.work.number >= work.number;
    return reaches(*each.work.line, each.work.number, work, depth - 1);
  });
}

void wait_book::forget(std::uint64_t stream) {
  const std::lock_guard lock(guard_);
  waits_.erase(stream);
}

} // namespace troupe
