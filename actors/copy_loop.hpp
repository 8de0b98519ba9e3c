#pragma once

#include <cstddef>
#include <optional>

#include "actors/payloads.hpp"

namespace troupe {

/// Moves the next at most `chunk_bytes` of `copy`, but at least one element, and returns how many
/// bytes that was. Source and target may overlap, in rows if both have the same pitch, but not where
/// elements are converted: the whole then ends as by `memmove`. Any thread, one at a time per copy.
std::size_t copy_chunk(copy_payload& copy, std::size_t chunk_bytes) noexcept;

/// The first byte, as counted by `done`, in which the target differs from what `copy_chunk` had to
/// write when it went from `before` to `after`, two states of one copy. Nothing if there is none, or
/// if source and target overlap; of a batch, where its ranges overlap.
[[nodiscard]] std::optional<std::size_t> first_miscopied(const copy_payload& before,
                                                         const copy_payload& after);

} // namespace troupe
