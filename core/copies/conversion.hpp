#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/copies/half.hpp"
#include "core/status.hpp"

namespace troupe {

/// Element types that a copy can convert between on its way.
enum class number_type : std::uint8_t { f32, f16, bf16, i8 };

[[nodiscard]] constexpr std::size_t size_of(number_type type) noexcept {
  return type == number_type::f32 ? 4 : type == number_type::i8 ? 1 : 2;
}

[[nodiscard]] const char* to_string(number_type type) noexcept;

namespace detail {

template <class T>
[[nodiscard]] constexpr number_type number_type_of() noexcept {
  if constexpr (std::is_same_v<T, half>) return number_type::f16;
  if constexpr (std::is_same_v<T, bfloat16>) return number_type::bf16;
  if constexpr (std::is_same_v<T, std::int8_t>) return number_type::i8;
  return number_type::f32;
}

} // namespace detail

/// From what to what the elements of a copy are converted: f32 to or from one of the others.
///
/// | to   | result                                                                               |
/// | ---- | ------------------------------------------------------------------------------------ |
/// | f16  | the nearest, ties to even; infinite from 65,520 on; NaN stays one, and becomes quiet |
/// | bf16 | likewise, infinite only where rounding leaves the range of f32                       |
/// | i8   | `value / scale`, the nearest, ties to even; cut to -128 ... 127; NaN becomes 0       |
/// | f32  | exact from f16 (a NaN becomes quiet) and bf16 (bit by bit); from i8 `value * scale`  |
struct conversion {
  number_type from = number_type::f32;
  number_type to = number_type::f32;
  float scale = 1; ///< of i8, finite and above 0; for the others 1
};

/// Whether there is such a conversion. Failure: 107000, naming what is wrong.
[[nodiscard]] status check_conversion(const conversion& how);

/// Whether results go around the cache: for as much that it would not stay there anyway.
enum class write_path : std::uint8_t { cached, around_cache };

/// Converts `count` elements from `source` to `target`, at any alignment; the ranges do not overlap.
/// `how` has been checked. With the processor's vector instructions where it has them, with the same
/// bits as without. Any thread; rounding as the thread has it must be to nearest, the default.
void convert(void* target, const void* source, std::size_t count, const conversion& how,
             write_path path = write_path::cached) noexcept;

/// The same without vector instructions: what `convert` is measured against.
void convert_plainly(void* target, const void* source, std::size_t count,
                     const conversion& how) noexcept;

} // namespace troupe
