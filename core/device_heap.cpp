#include "core/device_heap.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

#include <gsl/gsl>

namespace troupe {

double device_heap::figures::fragmentation() const noexcept {
  if (free == 0) return 0.0;
  return 1.0 - static_cast<double>(largest_hole) / static_cast<double>(free);
}

device_heap::device_heap(std::uint64_t capacity, std::uint64_t alignment)
    : alignment_(alignment), capacity_(capacity & ~(alignment - 1)) {
  Expects(std::has_single_bit(alignment));
  if (capacity_ != 0) add_hole(0, capacity_);
}

std::optional<device_heap::block> device_heap::allocate(std::uint64_t bytes, std::uint64_t owner,
                                                        std::uint64_t spare) {
  Expects(bytes > 0);
  // Also keeps the rounding from overflowing.
  if (bytes > capacity_ || spare > capacity_ - bytes) return std::nullopt;
  const auto size = size_for(bytes + spare);
  const auto fit = holes_by_size_.lower_bound({size, 0});
  if (fit == holes_by_size_.end()) return std::nullopt;
  return cut(fit->second, fit->second, {size, bytes, owner, false});
}

std::optional<device_heap::block> device_heap::allocate_pages(std::uint64_t bytes,
                                                              std::uint64_t page,
                                                              std::uint64_t owner,
                                                              std::uint64_t spare) {
  Expects(bytes > 0 && std::has_single_bit(page) && page >= alignment_);
  if (bytes > capacity_ || spare > capacity_ - bytes) return std::nullopt;
  const auto size = (bytes + spare + page - 1) & ~(page - 1);
  for (auto fit = holes_by_size_.lower_bound({size, 0}); fit != holes_by_size_.end(); ++fit) {
    const auto [hole_size, hole] = *fit;
    const auto offset = (hole + page - 1) & ~(page - 1);
    if (offset - hole > hole_size || size > hole_size - (offset - hole)) continue;
    return cut(hole, offset, {size, bytes, owner, false});
  }
  return std::nullopt;
}

// A block at `offset` of the hole that begins at `hole`, of which the rest on both sides stays one.
device_heap::block device_heap::cut(std::uint64_t hole, std::uint64_t offset, const extent& what) {
  const auto at = holes_.find(hole);
  const auto end = hole + at->second;
  holes_by_size_.erase({at->second, hole});
  holes_.erase(at);
  if (offset > hole) add_hole(hole, offset - hole);
  if (end > offset + what.size) add_hole(offset + what.size, end - offset - what.size);
  const auto entry = live_.emplace(offset, what).first;
  by_owner_.emplace(what.owner, offset);
  used_ += what.size;
  requested_ += what.requested;
  used_high_water_ = std::max(used_high_water_, used_);
  frontier_ = std::max(frontier_, offset + what.size);
  Ensures(used_ <= capacity_);
  return block_of(*entry);
}

device_heap::free_result device_heap::free(std::uint64_t offset) {
  const auto entry = occupant(offset);
  if (entry == live_.end()) {
    const bool was_ours = offset < frontier_;
    return {was_ours ? free_outcome::already_free : free_outcome::unknown, {}};
  }
  if (entry->first != offset) return {free_outcome::interior, block_of(*entry)};
  return {free_outcome::freed, release(entry)};
}

void device_heap::retire(std::uint64_t offset) {
  if (const auto entry = live_.find(offset); entry != live_.end()) entry->second.retired = true;
}

std::vector<device_heap::block> device_heap::free_all(std::uint64_t owner) {
  auto blocks = blocks_of(owner);
  for (const auto& each : blocks) release(live_.find(each.offset));
  return blocks;
}

std::optional<device_heap::block> device_heap::find(std::uint64_t offset) const {
  const auto entry = occupant(offset);
  if (entry == live_.end()) return std::nullopt;
  return block_of(*entry);
}

std::vector<device_heap::block> device_heap::blocks_of(std::uint64_t owner) const {
  std::vector<block> blocks;
  for (auto i = by_owner_.lower_bound({owner, 0}); i != by_owner_.end() && i->first == owner; ++i)
    blocks.push_back(block_of(*live_.find(i->second)));
  return blocks;
}

std::vector<device_heap::range> device_heap::holes() const {
  std::vector<range> ranges;
  ranges.reserve(holes_.size());
  for (const auto& [offset, size] : holes_) ranges.push_back({offset, size});
  return ranges;
}

device_heap::figures device_heap::current_figures() const noexcept {
  figures now;
  now.capacity = capacity_;
  now.used = used_;
  now.requested = requested_;
  now.free = capacity_ - used_;
  now.used_high_water = used_high_water_;
  now.largest_hole = holes_by_size_.empty() ? 0 : holes_by_size_.rbegin()->first;
  now.holes = holes_.size();
  now.live_blocks = live_.size();
  return now;
}

device_heap::block device_heap::block_of(const live_map::value_type& entry) {
  const auto& at = entry.second;
  return {entry.first, at.size, at.requested, at.owner, at.retired};
}

device_heap::live_map::const_iterator device_heap::occupant(std::uint64_t offset) const {
  const auto above = live_.upper_bound(offset);
  if (above == live_.begin()) return live_.end();
  const auto below = std::prev(above);
  return offset - below->first < below->second.size ? below : live_.end();
}

void device_heap::add_hole(std::uint64_t offset, std::uint64_t size) {
  const auto above = holes_.lower_bound(offset);
  if (above != holes_.begin()) {
    const auto below = std::prev(above);
    Expects(below->first + below->second <= offset);
    if (below->first + below->second == offset) {
      offset = below->first;
      size += below->second;
      holes_by_size_.erase({below->second, below->first});
      holes_.erase(below);
    }
  }
  if (above != holes_.end()) {
    Expects(offset + size <= above->first);
    if (offset + size == above->first) {
      size += above->second;
      holes_by_size_.erase({above->second, above->first});
      holes_.erase(above);
    }
  }
  holes_.emplace(offset, size);
  holes_by_size_.emplace(size, offset);
}

device_heap::block device_heap::release(live_map::const_iterator entry) {
  const block gone = block_of(*entry);
  Expects(used_ >= gone.size && requested_ >= gone.requested);
  used_ -= gone.size;
  requested_ -= gone.requested;
  by_owner_.erase({gone.owner, gone.offset});
  live_.erase(entry);
  add_hole(gone.offset, gone.size);
  return gone;
}

} // namespace troupe
