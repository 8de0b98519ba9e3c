#include "core/checking/written_ranges.hpp"

#include <algorithm>
#include <iterator>

namespace troupe {

void written_ranges::add(std::uint64_t first, std::uint64_t end) {
  if (first >= end) return;
  auto at = ranges_.upper_bound(first);
  if (at != ranges_.begin() && std::prev(at)->second >= first) --at;
  while (at != ranges_.end() && at->first <= end) {
    first = std::min(first, at->first);
    end = std::max(end, at->second);
    at = ranges_.erase(at);
  }
  ranges_.emplace(first, end);
}

std::optional<written_ranges::range> written_ranges::first_gap(std::uint64_t first,
                                                               std::uint64_t end) const {
  auto at = ranges_.upper_bound(first);
  if (at != ranges_.begin()) first = std::max(first, std::prev(at)->second);
  if (first >= end) return std::nullopt;
  return range(first, at == ranges_.end() ? end : std::min(end, at->first));
}

} // namespace troupe
