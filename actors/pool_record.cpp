#include "actors/pool_record.hpp"

#include <algorithm>
#include <bit>

#include <gsl/gsl>

namespace troupe {

// Four classes to each power of two: at most a quarter is lost to rounding, and a freed block fits
// the next request of about its size.
std::uint64_t pool_record::size_class(std::uint64_t bytes) {
  static constexpr std::uint64_t least = 512;
  if (bytes <= least) return least;
  const auto step = std::max(least, std::bit_floor(bytes - 1) / 4);
  return (bytes + step - 1) / step * step;
}

std::uint64_t pool_record::slab_bytes_for(std::uint64_t bytes) {
  return std::max(slab_bytes_min, size_class(bytes));
}

std::optional<memory_block> pool_record::take(std::uint64_t bytes, const timeline& line) {
  Expects(bytes > 0);
  const auto size = size_class(bytes);
  const std::lock_guard lock(guard_);
  const auto hand_out = [&](std::byte* data) {
    ++counters_.allocations;
    counters_.used += size;
    counters_.used_high_water = std::max(counters_.used_high_water, counters_.used);
    return memory_block{data, bytes};
  };
  if (const auto found = free_.find(size); found != free_.end()) {
    auto& entries = found->second;
    const auto looked_at = std::min(entries.size(), search_max);
    for (std::size_t i = 0; i < looked_at; ++i) {
      auto& entry = entries[entries.size() - 1 - i]; // newest first: warm, and often this stream's
      const bool in_order = entry.after.line.get() == &line && !line.has_stray();
      if (!in_order && !entry.after.ended()) continue;
      auto* data = entry.data;
      entry = std::move(entries.back());
      entries.pop_back();
      ++counters_.reused;
      return hand_out(data);
    }
  }
  if (fresh_bytes_ < size) return std::nullopt;
  auto* data = fresh_;
  fresh_ += size;
  fresh_bytes_ -= size;
  return hand_out(data);
}

void pool_record::put_back(const memory_block& block, ticket after) {
  const auto size = size_class(block.bytes);
  const std::lock_guard lock(guard_);
  counters_.used -= size;
  free_[size].push_back({block.data, std::move(after)});
}

// The rest of the slab before is kept as free blocks, so that nothing is lost by growing.
void pool_record::add_slab(const memory_block& slab) {
  static const auto no_work = std::make_shared<timeline>(0);
  const std::lock_guard lock(guard_);
  while (fresh_bytes_ >= size_class(1)) {
    auto part = size_class(1);
    while (size_class(part + 1) <= fresh_bytes_) part = size_class(part + 1);
    free_[part].push_back({fresh_, ticket{no_work, 0}});
    fresh_ += part;
    fresh_bytes_ -= part;
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
