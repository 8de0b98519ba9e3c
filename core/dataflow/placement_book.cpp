#include "core/dataflow/placement_book.hpp"

#include <algorithm>
#include <tuple>

namespace troupe {
namespace {

std::uintptr_t address_of(const void* base) noexcept {
  return reinterpret_cast<std::uintptr_t>(base);
}

} // namespace

std::size_t choose_place(gsl::span<const place_offer> offers, std::uint64_t patience) {
  Expects(!offers.empty());
  const auto nearest = std::min_element(offers.begin(), offers.end(), [](auto& a, auto& b) {
    return std::tie(b.bytes, a.load) < std::tie(a.bytes, b.load);
  });
  const auto idlest = std::min_element(offers.begin(), offers.end(), [](auto& a, auto& b) {
    return std::tie(a.load, b.bytes) < std::tie(b.load, a.bytes);
  });
  const auto chosen = nearest->load >= idlest->load + patience ? idlest : nearest;
  return static_cast<std::size_t>(chosen - offers.begin());
}

std::optional<placement_book::copy> placement_book::find(const void* base, std::size_t bytes,
                                                         std::size_t place) const {
  const auto [first, last] = entries_.equal_range(address_of(base));
  const auto found = std::find_if(first, last, [&](const auto& each) {
    return each.second.bytes == bytes && each.second.place == place;
  });
  if (found == last) return std::nullopt;
  return found->second.number;
}

placement_book::copy placement_book::add(const void* base, std::size_t bytes, std::size_t place) {
  Expects(!find(base, bytes, place));
  longest_ = std::max(longest_, bytes);
  const auto at = entries_.emplace(address_of(base), entry{bytes, place, ++last_});
  places_.emplace(last_, at);
  return last_;
}

std::vector<placement_book::copy> placement_book::written(const void* base, std::size_t bytes) {
  const auto begin = address_of(base);
  const auto end = begin + bytes;
  std::vector<copy> gone;
  for (auto at = entries_.lower_bound(begin - std::min(begin, longest_));
       at != entries_.end() && at->first < end; ++at) {
    if (at->first + at->second.bytes > begin) gone.push_back(at->second.number);
  }
  std::sort(gone.begin(), gone.end()); // addresses are no order to act in
  for (const auto each : gone) forget(each);
  return gone;
}

void placement_book::forget(copy which) {
  const auto found = places_.find(which);
  if (found == places_.end()) return;
  entries_.erase(found->second);
  places_.erase(found);
}

placement_book::mark placement_book::set_mark(const void* base) {
  if (const auto older = mark_at(base)) remove_mark(*older);
  marks_.emplace(address_of(base), ++last_mark_);
  marked_.emplace(last_mark_, address_of(base));
  return last_mark_;
}

std::optional<placement_book::mark> placement_book::mark_at(const void* base) const {
  const auto found = marks_.find(address_of(base));
  if (found == marks_.end()) return std::nullopt;
  return found->second;
}

void placement_book::remove_mark(mark which) {
  const auto found = marked_.find(which);
  if (found == marked_.end()) return;
  marks_.erase(found->second);
  marked_.erase(found);
}

} // namespace troupe
