// The 16-bit numbers, all of them.

#include "core/copies/half.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace troupe {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// What the bits of a binary16 mean, by its definition.
double meaning_of_half(std::uint32_t bits) {
  const auto sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  const auto exponent = static_cast<int>(bits >> 10U & 0x1FU);
  const auto digits = static_cast<double>(bits & 0x3FFU);
  if (exponent == 31) return digits == 0 ? sign * infinity : std::nan("");
  if (exponent == 0) return sign * std::ldexp(digits, -24);
  return sign * std::ldexp(1024 + digits, exponent - 25);
}

template <class Use>
void all_bits(Use use) {
  for (std::uint32_t bits = 0; bits < 65'536; ++bits) use(static_cast<std::uint16_t>(bits));
}

TEST(half_numbers, each_widens_to_what_it_means) {
  all_bits([](std::uint16_t bits) {
    const auto value = static_cast<float>(half::of_bits(bits));
    const auto wanted = meaning_of_half(bits);
    ASSERT_TRUE(std::isnan(wanted) ? std::isnan(value) : value == wanted) << bits;
    ASSERT_EQ(std::signbit(value), (bits & 0x8000U) != 0) << bits;
  });
}

TEST(half_numbers, each_survives_the_way_there_and_back) {
  all_bits([](std::uint16_t bits) {
    const auto value = static_cast<float>(half::of_bits(bits));
    const bool nan = (bits & 0x7FFFU) > 0x7C00U;
    ASSERT_EQ(half(value).bits, nan ? bits | 0x200U : bits);
  });
}

// Every border between two neighbours: halfway goes to the even one, a hair beside it to the nearer.
TEST(half_numbers, the_nearest_is_taken_and_of_two_the_even_one) {
  for (std::uint32_t low = 0; low < 0x7C00U; ++low) {
    const auto next = low + 1 == 0x7C00U ? 65'536.0 : meaning_of_half(low + 1);
    const auto middle = static_cast<float>((meaning_of_half(low) + next) / 2);
    const auto even = low % 2 == 0 ? low : low + 1;
    for (const std::uint32_t sign : {0U, 0x8000U}) {
      const auto signed_middle = sign == 0 ? middle : -middle;
      ASSERT_EQ(half(signed_middle).bits, even | sign) << low;
      ASSERT_EQ(half(std::nextafter(signed_middle, 0.0F)).bits, low | sign) << low;
      ASSERT_EQ(half(std::nextafter(signed_middle, signed_middle * 2)).bits, (low + 1) | sign);
    }
  }
}

TEST(half_numbers, what_is_too_large_is_infinite_and_not_a_number_stays_so) {
  EXPECT_EQ(half(65'519.996F).bits, 0x7BFF);
  EXPECT_EQ(half(65'520.0F).bits, 0x7C00);
  EXPECT_EQ(half(infinity).bits, 0x7C00);
  EXPECT_EQ(half(-1e30F).bits, 0xFC00);
  EXPECT_GT(half(std::numeric_limits<float>::quiet_NaN()).bits & 0x7FFF, 0x7C00);
  EXPECT_EQ(half(1e-30F).bits, 0);
  EXPECT_EQ(half(-0.0F).bits, 0x8000);
}

TEST(bfloat16_numbers, each_survives_the_way_there_and_back) {
  all_bits([](std::uint16_t bits) {
    const auto value = static_cast<float>(bfloat16::of_bits(bits));
    const bool nan = (bits & 0x7FFFU) > 0x7F80U;
    ASSERT_EQ(bfloat16(value).bits, nan ? bits | 0x40U : bits);
  });
}

TEST(bfloat16_numbers, the_nearest_is_taken_and_of_two_the_even_one) {
  for (std::uint32_t low = 0; low < 0x7F80U; ++low) {
    const auto middle = std::bit_cast<float>(low << 16U | 0x8000U);
    const auto even = low % 2 == 0 ? low : low + 1;
    for (const std::uint32_t sign : {0U, 0x8000U}) {
      const auto signed_middle = sign == 0 ? middle : -middle;
      ASSERT_EQ(bfloat16(signed_middle).bits, even | sign) << low;
      ASSERT_EQ(bfloat16(std::nextafter(signed_middle, 0.0F)).bits, low | sign) << low;
      ASSERT_EQ(bfloat16(std::nextafter(signed_middle, signed_middle * 2)).bits, (low + 1) | sign);
    }
  }
  EXPECT_EQ(bfloat16(std::numeric_limits<float>::max()).bits, 0x7F80) << "rounds out of the range";
}

} // namespace
} // namespace troupe
