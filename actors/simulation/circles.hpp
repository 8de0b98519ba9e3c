#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace troupe {

constexpr std::size_t no_next = SIZE_MAX;

/// The circles among things of which each waits for at most one other: `next[i]` is what number i
/// waits for, `no_next` for nothing. Each circle once, from the member that is found first.
[[nodiscard]] std::vector<std::vector<std::size_t>> circles_of(
    const std::vector<std::size_t>& next);

} // namespace troupe
