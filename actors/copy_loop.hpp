#pragma once

#include <cstddef>

#include "actors/payloads.hpp"

namespace troupe {

/// Moves the next at most `chunk_bytes` of `copy` and returns how many bytes that was. Source and
/// target may overlap: the whole then ends as by `memmove`. Any thread, one at a time per copy.
std::size_t copy_chunk(copy_payload& copy, std::size_t chunk_bytes) noexcept;

} // namespace troupe
