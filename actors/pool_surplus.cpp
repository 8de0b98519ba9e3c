// What a pool gives back of what it has taken, and the figures that tell of it.

#include <algorithm>
#include <string>

#include "actors/pool_record.hpp"

namespace troupe {

// What has just been freed may still be used by work in flight: the next synchronise sees.
void pool_record::look_for_surplus(const slab& freed_from) noexcept {
  const bool surplus =
      freed_from.in_use == 0 && counters_.reserved > options_.release_threshold_bytes;
  if (surplus && context_ != nullptr) context_->note_surplus();
}

// Takes idle slabs that `gives` lets go, the oldest first, until no more than `above` is reserved;
// `excess` is what is reserved beyond that.
std::vector<memory_block> pool_record::take_idle_while(
    std::uint64_t above, bool (*gives)(const slab&, std::uint64_t excess)) {
  std::vector<memory_block> taken;
  if (given_up_) return taken;
  for (auto at = slabs_.begin(); at != slabs_.end() && counters_.reserved > above;) {
    const auto each = at++;
    const auto bytes = each->memory.bytes;
    if (!gives(*each, counters_.reserved - above) || !idle(*each)) continue;
    forget_cuts(*each);
    counters_.reserved -= bytes;
    taken.push_back(each->memory);
    slabs_.erase(each);
  }
  return taken;
}

std::vector<memory_block> pool_record::take_idle() {
  const std::lock_guard lock(guard_);
  return take_idle_while(0, [](const slab&, std::uint64_t) { return true; });
}

std::vector<memory_block> pool_record::take_surplus() {
  const std::lock_guard lock(guard_);
  auto taken = take_idle_while(options_.release_threshold_bytes,
                               [](const slab& each, std::uint64_t) { return !each.untouched; });
  for (const auto& each : slabs_) look_for_surplus(each); // what is still at work
  return taken;
}

result<std::vector<memory_block>> pool_record::trim(std::uint64_t keep_bytes) {
  const std::lock_guard lock(guard_);
  if (keep_bytes < counters_.used) {
    return make_status(code::invalid_parameter,
                       "a pool is to be trimmed to " + std::to_string(keep_bytes) +
                           " bytes, of which " + std::to_string(counters_.used) +
                           " are in use");
  }
  return take_idle_while(keep_bytes, [](const slab& each, std::uint64_t excess) {
    return each.memory.bytes <= excess;
  });
}

std::vector<memory_block> pool_record::surrender() {
  const std::lock_guard lock(guard_);
  return surrender_locked();
}

result<std::vector<memory_block>> pool_record::surrender_unused() {
  const std::lock_guard lock(guard_);
  if (counters_.used != 0) {
    return make_status(code::invalid_parameter, "the pool has " + std::to_string(counters_.used) +
                                                    " bytes in use");
  }
  return surrender_locked();
}

// The books are kept, for blocks in use: they are put back into them.
std::vector<memory_block> pool_record::surrender_locked() {
  std::vector<memory_block> taken;
  if (std::exchange(given_up_, true)) return taken;
  for (const auto& each : slabs_) taken.push_back(each.memory);
  for (auto& [size, all] : free_) all.clear();
  fresh_bytes_ = 0;
  counters_.reserved = 0;
  return taken;
}

// -- figures ------------------------------------------------------------------

bool pool_record::given_up() const {
  const std::lock_guard lock(guard_);
  return given_up_;
}

pool_counters pool_record::counters() const {
  const std::lock_guard lock(guard_);
  auto seen = counters_;
  if (given_up_) return seen;
  seen.cached = seen.largest_free = fresh_bytes_;
  for (const auto& [size, all] : free_) {
    for (const auto* place : all) {
      const bool free = over(*place);
      (free ? seen.cached : seen.pending_free) += size;
      if (free) seen.largest_free = std::max(seen.largest_free, size);
    }
  }
  if (options_.opportunistic) {
    for (const auto& each : slabs_) {
      if (idle(each)) seen.largest_free = std::max(seen.largest_free, each.memory.bytes);
    }
  }
  return seen;
}

void pool_record::reset_high_water() {
  const std::lock_guard lock(guard_);
  counters_.used_high_water = counters_.used;
  counters_.reserved_high_water = counters_.reserved;
}

// A pool that has given up holds nothing, whatever is still to be put back.
std::uint64_t pool_record::cached_bytes() const {
  const std::lock_guard lock(guard_);
  return given_up_ ? 0 : counters_.reserved - counters_.used;
}

} // namespace troupe
