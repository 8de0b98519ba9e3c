#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace troupe {

/// What one element of a tensor is. f16 is IEEE half, bf16 the upper half of an f32; s and u are
/// signed and unsigned integers of so many bits.
enum class element_type : std::uint8_t { f32, f16, bf16, s32, s8, u8 };

/// "f32" and so on. The view lives for ever.
[[nodiscard]] std::string_view to_string(element_type type) noexcept;

/// Bytes of one element.
[[nodiscard]] std::size_t bytes_of_element(element_type type) noexcept;

} // namespace troupe
