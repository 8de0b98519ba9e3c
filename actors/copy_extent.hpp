#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/copies/copy_form.hpp"

namespace troupe {

/// Whether any two bytes of the ranges are the same.
[[nodiscard]] inline bool overlap(const void* a, std::size_t a_bytes, const void* b,
                                  std::size_t b_bytes) noexcept {
  const auto first = reinterpret_cast<std::uintptr_t>(a);
  const auto second = reinterpret_cast<std::uintptr_t>(b);
  return first < second ? second - first < a_bytes : first - second < b_bytes;
}

/// From the first byte of `bytes` in rows to behind the last.
[[nodiscard]] inline std::size_t extent_of(std::size_t bytes, std::size_t width,
                                           std::size_t pitch) noexcept {
  return (bytes / width - 1) * pitch + width;
}

/// Calls `use(offset in the target, offset in the source, bytes)` for each part of a row within
/// `count` bytes from `from` on, from the first or from the last.
template <class Use>
void each_part_of_rows(const in_rows& rows, std::size_t from, std::size_t count, bool backwards,
                       const Use& use) {
  while (count > 0) {
    const auto place = backwards ? from + count - 1 : from;
    const auto row = place / rows.width;
    const auto first = std::max(from, row * rows.width);
    const auto end = std::min(from + count, (row + 1) * rows.width);
    const auto column = first - row * rows.width;
    use(row * rows.target_pitch + column, row * rows.source_pitch + column, end - first);
    if (!backwards) from = end;
    count -= end - first;
  }
}

} // namespace troupe
