#pragma once

#include <bit>
#include <cstdint>

namespace troupe {

namespace detail {

/// The binary16 nearest to `value`, ties to even. Infinite from 65,520 on; a NaN keeps its sign and
/// the upper bits of its payload and becomes quiet. IEEE 754-2019, 3.6 and 4.3.1.
[[nodiscard]] constexpr std::uint16_t half_bits(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint32_t>(bits >> 16U & 0x8000U);
  const auto size = bits & 0x7FFF'FFFFU;
  std::uint32_t made = 0;
  if (size > 0x7F80'0000U) {
    made = 0x7E00U | (size >> 13U & 0x3FFU);
  } else if (size >= 0x477F'F000U) { // 65,520, halfway from the largest finite to 2^16
    made = 0x7C00U;
  } else if (size >= 0x3880'0000U) { // 2^-14, the least normal
    const auto rebiased = size - 0x3800'0000U;
    made = (rebiased + 0xFFFU + (rebiased >> 13U & 1U)) >> 13U;
  } else if (size >= 0x3300'0000U) { // 2^-25, half of the least subnormal
    const auto shift = 126U - (size >> 23U);
    const auto digits = (size & 0x7F'FFFFU) | 0x80'0000U;
    const auto kept = digits >> shift;
    const auto rest = digits & ((1U << shift) - 1U);
    const auto half = 1U << (shift - 1U);
    made = kept + (rest > half || (rest == half && (kept & 1U) != 0) ? 1U : 0U);
  }
  return static_cast<std::uint16_t>(sign | made);
}

/// Exact; a NaN becomes quiet.
[[nodiscard]] constexpr float half_value(std::uint16_t bits) noexcept {
  const auto sign = (bits & 0x8000U) << 16U;
  const auto exponent = bits >> 10U & 0x1FU;
  const auto digits = bits & 0x3FFU;
  if (exponent == 0x1F) {
    const auto quiet = digits == 0 ? 0U : 0x40'0000U;
    return std::bit_cast<float>(sign | 0x7F80'0000U | digits << 13U | quiet);
  }
  if (exponent == 0) {
    const auto size = static_cast<float>(digits) * 0x1p-24F;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(size));
  }
  return std::bit_cast<float>(sign | (exponent + 112U) << 23U | digits << 13U);
}

/// The bfloat16 nearest to `value`, ties to even; beyond the largest finite infinite. NaN as above.
[[nodiscard]] constexpr std::uint16_t bfloat16_bits(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFF'FFFFU) > 0x7F80'0000U) {
    return static_cast<std::uint16_t>((bits | 0x40'0000U) >> 16U);
  }
  return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16U & 1U)) >> 16U);
}

} // namespace detail

/// A number in 16 bits, IEEE binary16: 11 digits of precision, largest finite 65,504. Only a value to
/// be stored and converted; arithmetic is done in `float`. From `float`: the nearest, ties to even,
/// infinite from 65,520 on, a quiet NaN of a NaN. To `float`: exact.
struct half {
  std::uint16_t bits = 0;

  constexpr half() noexcept = default;
  explicit constexpr half(float value) noexcept : bits(detail::half_bits(value)) {}
  [[nodiscard]] static constexpr half of_bits(std::uint16_t bits) noexcept {
    half made;
    made.bits = bits;
    return made;
  }
  [[nodiscard]] explicit constexpr operator float() const noexcept {
    return detail::half_value(bits);
  }
};

/// A number in 16 bits: the upper half of a `float`, so its range with 8 digits of precision. From
/// `float`: the nearest, ties to even, a quiet NaN of a NaN. To `float`: exact, bit by bit.
struct bfloat16 {
  std::uint16_t bits = 0;

  constexpr bfloat16() noexcept = default;
  explicit constexpr bfloat16(float value) noexcept : bits(detail::bfloat16_bits(value)) {}
  [[nodiscard]] static constexpr bfloat16 of_bits(std::uint16_t bits) noexcept {
    bfloat16 made;
    made.bits = bits;
    return made;
  }
  [[nodiscard]] explicit constexpr operator float() const noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
  }
};

} // namespace troupe
