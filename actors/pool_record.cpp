#include "actors/pool_record.hpp"

#include <algorithm>
#include <bit>

#include <gsl/gsl>

#include "actors/machine.hpp"
#include "actors/simulation/witness.hpp"

namespace troupe {

// Four classes to each power of two: at most a quarter is lost to rounding, and a freed block fits
// the next request of about its size.
std::uint64_t pool_record::size_class(std::uint64_t bytes) {
  static constexpr std::uint64_t least = 512;
  if (bytes <= least) return least;
  const auto step = std::max(least, std::bit_floor(bytes - 1) / 4);
  if (bytes > UINT64_MAX - (step - 1)) return UINT64_MAX; // no memory is that large
  return (bytes + step - 1) / step * step;
}

pool_record::pool_record(std::shared_ptr<context_record> context)
    : context_(std::move(context)), seen_(context_ ? context_->home().seen() : nullptr) {}

std::uint64_t pool_record::slab_bytes_for(std::uint64_t bytes) {
  return std::max(slab_bytes_min, size_class(bytes));
}

std::optional<pool_record::piece> pool_record::take(std::uint64_t bytes, const timeline& line) {
  Expects(bytes > 0);
  const auto size = size_class(bytes);
  const std::lock_guard lock(guard_);
  const auto hand_out = [&](cut* place) {
    ++counters_.allocations;
    counters_.used += size;
    counters_.used_high_water = std::max(counters_.used_high_water, counters_.used);
    place->requested = bytes;
    place->user = &line;
    place->used_on.store(reach::own_stream, std::memory_order_relaxed);
    if (seen_ != nullptr) [[unlikely]] seen_->handed_out(place->data, size, line.id());
    return piece{place->data, bytes, place};
  };
  if (const auto found = free_.find(size); found != free_.end()) {
    auto& entries = found->second;
    const auto looked_at = std::min(entries.size(), search_max);
    for (std::size_t i = 0; i < looked_at; ++i) {
      auto& entry = entries[entries.size() - 1 - i]; // newest first: warm, and often this stream's
      const bool in_order = entry.after.line.get() == &line && !line.has_stray();
      if (!in_order && !entry.after.ended()) continue;
      if (entry.others && !all_ended(*entry.others)) continue;
      auto* place = entry.place;
      if (&entry != &entries.back()) entry = std::move(entries.back());
      entries.pop_back();
      ++counters_.reused;
      return hand_out(place);
    }
  }
  if (fresh_bytes_ < size) return std::nullopt;
  auto* data = fresh_;
  fresh_ += size;
  fresh_bytes_ -= size;
  return hand_out(cut_off(data, size));
}

pool_record::cut* pool_record::cut_off(std::byte* data, std::uint64_t size) {
  auto& made = cuts_[data];
  made.data = data;
  made.size = size;
  return &made;
}

void pool_record::put_back(const piece& block, ticket after, frontier others) {
  auto kept = others.empty() ? nullptr : std::make_unique<frontier>(std::move(others));
  const std::lock_guard lock(guard_);
  const auto size = block.place->size;
  counters_.used -= size;
  block.place->requested = 0;
  free_[size].push_back({block.place, std::move(after), std::move(kept)});
}

// The block's own stream is left out: there the order of submission is enough.
frontier pool_record::uses_elsewhere(const piece& block) const {
  if (uses_of(block) == reach::own_stream) return {};
  auto others = context_->outstanding();
  std::erase_if(others, [&](const ticket& each) { return each.line.get() == block.place->user; });
  return others;
}

std::optional<subdivision::part> pool_record::use_part(const std::byte* address,
                                                       const timeline* user) {
  const std::lock_guard lock(guard_);
  const auto above = cuts_.upper_bound(address);
  if (above == cuts_.begin()) return std::nullopt;
  const auto at = std::prev(above);
  const auto before = static_cast<std::uint64_t>(address - at->first);
  if (before >= at->second.size) return std::nullopt;
  auto& found = at->second;
  const bool in_use = found.requested != 0;
  if (in_use && user != nullptr && user != found.user) {
    found.used_on.store(reach::other_streams, std::memory_order_relaxed);
  }
  return part{found.data, found.requested, in_use};
}

// The rest of the slab before is kept as free blocks, so that nothing is lost by growing.
void pool_record::add_slab(const memory_block& slab) {
  static const auto no_work = std::make_shared<timeline>(0);
  const std::lock_guard lock(guard_);
  while (fresh_bytes_ >= size_class(1)) {
    auto size = size_class(1);
    while (size_class(size + 1) <= fresh_bytes_) size = size_class(size + 1);
    free_[size].push_back({cut_off(fresh_, size), ticket{no_work, 0}, nullptr});
    fresh_ += size;
    fresh_bytes_ -= size;
  }
  slabs_.push_back(slab);
  fresh_ = slab.data;
  fresh_bytes_ = slab.bytes;
  counters_.reserved += slab.bytes;
  ++counters_.grown;
}

std::vector<memory_block> pool_record::surrender() {
  const std::lock_guard lock(guard_);
  free_.clear();
  fresh_ = nullptr;
  fresh_bytes_ = 0;
  counters_.reserved = 0;
  return std::exchange(slabs_, {});
}

pool_counters pool_record::counters() const {
  const std::lock_guard lock(guard_);
  return counters_;
}

} // namespace troupe
