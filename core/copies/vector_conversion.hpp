#pragma once

#include <cstddef>

#include "core/copies/conversion.hpp"

namespace troupe {

/// Converts as many whole vectors as there are in `count` elements and returns how many elements that
/// was: 0 on a processor without AVX2 and F16C. For `write_path::around_cache` `target` must be where
/// `elements_to_alignment` leads, else it is ignored. What is written is visible as by plain stores.
[[nodiscard]] std::size_t convert_vectors(std::byte* target, const std::byte* source,
                                          std::size_t count, const conversion& how,
                                          write_path path) noexcept;

/// How many of `count` elements of `type` from `target` on lie before the next address at which
/// vectors can be written around the cache; all, if there is none.
[[nodiscard]] std::size_t elements_to_alignment(const std::byte* target, std::size_t count,
                                                number_type type) noexcept;

} // namespace troupe
