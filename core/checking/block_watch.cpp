#include "core/checking/block_watch.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace troupe {

// -- memory -------------------------------------------------------------------

void block_watch::fill(std::uint64_t first, std::uint64_t end, std::byte pattern) {
  std::memset(base_ + first, static_cast<int>(pattern), end - first);
}

// From the first to the last byte of the range that is not `pattern`.
std::optional<written_ranges::range> block_watch::spoilt(std::uint64_t first, std::uint64_t end,
                                                         std::byte pattern) const {
  const auto wrong = [pattern](std::byte each) { return each != pattern; };
  const auto* from = std::find_if(base_ + first, base_ + end, wrong);
  if (from == base_ + end) return std::nullopt;
  const auto* last = base_ + end;
  while (!wrong(last[-1])) --last;
  return written_ranges::range(from - base_, last - base_);
}

void block_watch::verify_guard(block_table::iterator at, findings& found) {
  const auto& its = at->second;
  const auto end = at->first + its.size;
  const auto wrong = spoilt(at->first + its.bytes, end, guard);
  if (!wrong) return;
  fill(wrong->first, wrong->second, guard);
  const auto next = std::next(at);
  found.push_back({memory_misuse::kind::out_of_bounds, true, at->first, its.bytes, its.owner,
                   wrong->first - at->first, wrong->second - wrong->first,
                   next != live_.end() && next->first == end ? end : 0});
}

void block_watch::verify_freed(freed_table::iterator at, std::uint64_t first, std::uint64_t end,
                               findings& found) {
  const auto wrong = spoilt(first, end, freed);
  if (!wrong) return;
  fill(wrong->first, wrong->second, freed);
  const auto& its = at->second;
  const auto next = live_.lower_bound(wrong->second);
  const bool borders = next != live_.end() && next->first == at->first + its.size;
  found.push_back({memory_misuse::kind::used_after_free, true, its.block, its.bytes, its.owner,
                   wrong->first - its.block, wrong->second - wrong->first,
                   borders ? next->first : 0});
}

// -- blocks -------------------------------------------------------------------

// Ends what is known of [offset, end), of which freed memory may go on to both sides.
void block_watch::make_room(std::uint64_t offset, std::uint64_t end, findings* found) {
  for (auto at = live_.lower_bound(offset); at != live_.end() && at->first < end;) {
    if (found != nullptr) verify_guard(at, *found);
    at = live_.erase(at);
  }
  auto at = freed_.upper_bound(offset);
  if (at != freed_.begin()) --at;
  while (at != freed_.end() && at->first < end) {
    const auto each = at++;
    const auto [first, its] = *each;
    const auto last = first + its.size;
    if (last <= offset) continue;
    if (found != nullptr) verify_freed(each, std::max(first, offset), std::min(last, end), *found);
    freed_.erase(each);
    if (first < offset) freed_.emplace(first, remains{offset - first, its.block, its.bytes, its.owner});
    if (last > end) freed_.emplace(end, remains{last - end, its.block, its.bytes, its.owner});
  }
}

void block_watch::hand_out(std::uint64_t offset, std::uint64_t size, std::uint64_t bytes,
                           std::uint64_t owner, findings& found) {
  make_room(offset, offset + size, &found);
  fill(offset, offset + bytes, fresh);
  fill(offset + bytes, offset + size, guard);
  live_.emplace(offset, block{size, bytes, owner, {}});
}

void block_watch::take_back(std::uint64_t offset, std::uint64_t size, std::uint64_t owner,
                            findings& found) {
  const auto at = live_.find(offset);
  const auto bytes = at != live_.end() ? at->second.bytes : size;
  make_room(offset, offset + size, &found);
  fill(offset, offset + size, freed);
  if (freed_.size() == freed_max) freed_.erase(freed_.begin());
  freed_.emplace(offset, remains{size, offset, bytes, owner});
}

void block_watch::forget(std::uint64_t offset, std::uint64_t size) {
  make_room(offset, offset + size, nullptr);
}

void block_watch::clear() {
  live_.clear();
  freed_.clear();
}

// -- uses ---------------------------------------------------------------------

block_watch::block_table::iterator block_watch::holder_of(std::uint64_t offset) {
  const auto above = live_.upper_bound(offset);
  if (above == live_.begin()) return live_.end();
  const auto at = std::prev(above);
  return offset - at->first < at->second.size ? at : live_.end();
}

// The block that the bytes begin in; null if that is none in use. Memory that was never handed out
// is not known, and refused where it matters.
block_watch::block* block_watch::use(std::uint64_t offset, std::uint64_t bytes, findings& found) {
  using kind = memory_misuse::kind;
  const auto at = holder_of(offset);
  if (at == live_.end()) {
    const auto above = freed_.upper_bound(offset);
    if (above == freed_.begin()) return nullptr;
    const auto& [first, its] = *std::prev(above);
    if (offset - first >= its.size) return nullptr;
    found.push_back({kind::used_after_free, false, its.block, its.bytes, its.owner,
                     offset - its.block, bytes, 0});
    return nullptr;
  }
  auto& its = at->second;
  const auto from = offset - at->first;
  const auto inside = from < its.bytes ? its.bytes - from : 0;
  if (bytes > inside) {
    const auto wrong = from + inside;
    found.push_back({kind::out_of_bounds, false, at->first, its.bytes, its.owner, wrong,
                     bytes - inside, 0});
  }
  return &its;
}

void block_watch::read(std::uint64_t offset, std::uint64_t bytes, findings& found) {
  auto* its = use(offset, bytes, found);
  if (its == nullptr) return;
  const auto begin = holder_of(offset)->first;
  const auto first = offset - begin;
  const auto end = std::min(its->bytes, first + bytes);
  const auto gap = first < end ? its->written.first_gap(first, end) : std::nullopt;
  if (!gap) return;
  its->written.add(first, end);
  found.push_back({memory_misuse::kind::read_before_write, false, begin, its->bytes, its->owner,
                   gap->first, gap->second - gap->first, 0});
}

void block_watch::write(std::uint64_t offset, std::uint64_t bytes, findings& found) {
  auto* its = use(offset, bytes, found);
  if (its == nullptr) return;
  const auto first = offset - holder_of(offset)->first;
  its->written.add(first, std::min(its->bytes, first + bytes));
}

void block_watch::verify(std::uint64_t freed_bytes, findings& found) {
  for (auto at = live_.begin(); at != live_.end(); ++at) verify_guard(at, found);
  for (auto left = freed_.size(); left > 0 && freed_bytes > 0; --left) {
    auto at = freed_.upper_bound(look_from_);
    if (at != freed_.begin() && std::prev(at)->first + std::prev(at)->second.size > look_from_) --at;
    if (at == freed_.end()) {
      look_from_ = 0;
      at = freed_.begin();
    }
    const auto first = std::max(at->first, look_from_);
    const auto end = first + std::min(at->first + at->second.size - first, freed_bytes);
    verify_freed(at, first, end, found);
    freed_bytes -= end - first;
    look_from_ = end;
  }
}

} // namespace troupe
