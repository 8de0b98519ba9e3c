#include "core/backing.hpp"

#include <algorithm>
#include <bit>

#include <gsl/gsl>

namespace troupe {

backing::backing(std::uint64_t capacity_bytes, std::uint64_t granule_bytes)
    : capacity_bytes_(capacity_bytes), granule_bytes_(granule_bytes) {
  Expects(std::has_single_bit(granule_bytes));
  const std::uint64_t rest = capacity_bytes % granule_bytes == 0 ? 0 : 1;
  backed_.resize(gsl::narrow<std::size_t>(capacity_bytes / granule_bytes + rest));
}

std::uint64_t backing::commit(std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t added = charge_for(offset, bytes);
  const auto [first, last] = touched(offset, bytes);
  for (auto i = first; i < last; ++i) backed_[i] = true;
  backed_bytes_ += added;
  Ensures(backed_bytes_ <= capacity_bytes_);
  return added;
}

std::vector<device_heap::range> backing::release_free(const device_heap& heap,
                                                      std::uint64_t wanted_bytes) {
  std::vector<device_heap::range> ranges;
  for (auto [offset, size] : trimmable(heap)) {
    if (wanted_bytes == 0) break;
    if (size > wanted_bytes) {
      const auto granules = (wanted_bytes - 1) / granule_bytes_ + 1;
      size = std::min(size, granules * granule_bytes_);
    }
    wanted_bytes -= std::min(wanted_bytes, size);
    ranges.push_back({offset, size});
    const auto [first, last] = touched(offset, size);
    for (auto i = first; i < last; ++i) backed_[i] = false;
    Expects(backed_bytes_ >= size);
    backed_bytes_ -= size;
  }
  return ranges;
}

std::uint64_t backing::charge_for(std::uint64_t offset, std::uint64_t bytes) const {
  const auto [first, last] = touched(offset, bytes);
  std::uint64_t charge = 0;
  for (auto i = first; i < last; ++i)
    if (!backed_[i]) charge += start_of(i + 1) - start_of(i);
  return charge;
}

std::vector<device_heap::range> backing::trimmable(const device_heap& heap) const {
  Expects(heap.capacity() == capacity_bytes_);
  std::vector<device_heap::range> ranges;
  if (backed_bytes_ == 0) return ranges;
  for (const auto& hole : heap.holes()) {
    const auto [first, last] = contained(hole);
    for (auto i = first; i < last; ++i) {
      if (!backed_[i]) continue;
      const auto run = i;
      while (i < last && backed_[i]) ++i;
      ranges.push_back({start_of(run), start_of(i) - start_of(run)});
    }
  }
  return ranges;
}

backing::span backing::touched(std::uint64_t offset, std::uint64_t bytes) const {
  Expects(bytes > 0 && offset < capacity_bytes_ && bytes <= capacity_bytes_ - offset);
  return {offset / granule_bytes_, (offset + bytes - 1) / granule_bytes_ + 1};
}

backing::span backing::contained(const device_heap::range& hole) const {
  const std::uint64_t end = hole.offset + hole.size;
  const std::uint64_t first = (hole.offset + granule_bytes_ - 1) / granule_bytes_;
  const std::uint64_t last = end == capacity_bytes_ ? backed_.size() : end / granule_bytes_;
  return {first, std::max(first, last)};
}

std::uint64_t backing::start_of(std::uint64_t granule) const noexcept {
  return std::min(granule * granule_bytes_, capacity_bytes_);
}

} // namespace troupe
