// Converting ranges: with the processor's vectors the same bits as without.

#include "core/copies/conversion.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace troupe {
namespace {

using enum number_type;

constexpr std::array all_conversions{conversion{f32, f16, 1},     conversion{f16, f32, 1},
                                     conversion{f32, bf16, 1},    conversion{bf16, f32, 1},
                                     conversion{f32, i8, 0.037F}, conversion{i8, f32, 0.037F}};

// Bits of every kind: each exponent, all digits near the borders, both signs, in no order.
std::vector<std::byte> any_numbers(std::size_t bytes) {
  std::vector<std::byte> made(bytes + 4);
  for (std::uint32_t i = 0; i * 4 < bytes; ++i) {
    const std::uint32_t bits = i % 3 == 0 ? i * 0x9E37'79B1U : (i * 0x0001'1000U) ^ (i >> 7U);
    std::memcpy(made.data() + std::size_t{4} * i, &bits, 4);
  }
  return made;
}

TEST(conversions, vectors_give_the_same_bits_as_plain_code) {
  constexpr std::size_t count = 1'000'003;
  for (const auto& how : all_conversions) {
    const auto source = any_numbers(count * size_of(how.from));
    std::vector<std::byte> plain(count * size_of(how.to));
    convert_plainly(plain.data(), source.data(), count, how);
    for (const auto path : {write_path::cached, write_path::around_cache}) {
      std::vector<std::byte> fast(plain.size());
      convert(fast.data(), source.data(), count, how, path);
      EXPECT_TRUE(fast == plain) << to_string(how.from) << " to " << to_string(how.to);
    }
  }
}

TEST(conversions, all_halves_widen_alike) {
  std::vector<std::uint16_t> all(65'536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  std::vector<std::uint32_t> fast(all.size());
  std::vector<std::uint32_t> plain(all.size());
  convert(fast.data(), all.data(), all.size(), {f16, f32, 1});
  convert_plainly(plain.data(), all.data(), all.size(), {f16, f32, 1});
  EXPECT_EQ(fast, plain);
}

TEST(conversions, any_alignment_and_count_serves_and_nothing_else_is_touched) {
  constexpr auto guard = std::byte{0xA5};
  const auto source = any_numbers(4'096);
  for (const auto& how : all_conversions) {
    for (const std::size_t count : {0U, 1U, 7U, 31U, 32U, 33U, 100U}) {
      for (const std::size_t shift : {0U, 1U, 2U, 3U, 30U}) {
        for (const auto path : {write_path::cached, write_path::around_cache}) {
          const auto bytes = count * size_of(how.to);
          std::vector<std::byte> target(bytes + shift + 64, guard);
          auto wanted = target;
          convert(target.data() + shift, source.data() + shift, count, how, path);
          convert_plainly(wanted.data() + shift, source.data() + shift, count, how);
          ASSERT_EQ(target, wanted) << to_string(how.to) << " " << count << " at " << shift;
        }
      }
    }
  }
}

TEST(conversions, eight_bits_are_rounded_to_even_and_cut) {
  constexpr auto inf = std::numeric_limits<float>::infinity();
  constexpr auto nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> source{0.25F, 0.75F, 1.25F, -0.25F, 63.4F, 64, -64, -64.3F, 1e30F, inf,
                                  -inf, nan, -nan, 0, -0.0F, 63.25F};
  const std::vector<std::int8_t> wanted{0, 2, 2, 0, 127, 127, -128, -128, 127, 127,
                                        -128, 0, 0, 0, 0, 126};
  std::vector<float> many;
  std::vector<std::int8_t> all_wanted;
  for (int i = 0; i < 5; ++i) { // for vectors, and a rest without
    many.insert(many.end(), source.begin(), source.end());
    all_wanted.insert(all_wanted.end(), wanted.begin(), wanted.end());
  }
  std::vector<std::int8_t> made(many.size());
  convert(made.data(), many.data(), many.size(), {f32, i8, 0.5F});
  EXPECT_EQ(made, all_wanted);
  std::vector<float> back(made.size());
  convert(back.data(), made.data(), made.size(), {i8, f32, 0.5F});
  for (std::size_t i = 0; i < back.size(); ++i) EXPECT_EQ(back[i], 0.5F * made[i]);
}

TEST(conversions, what_makes_no_sense_is_refused_and_named) {
  const auto says = [](const conversion& how) { return check_conversion(how).describe(); };
  for (const auto& how : all_conversions) EXPECT_TRUE(check_conversion(how).ok());
  EXPECT_NE(says({f16, bf16, 1}).find("no conversion from f16 to bf16"), std::string::npos);
  EXPECT_NE(says({f32, f32, 1}).find("no conversion from f32 to f32"), std::string::npos);
  EXPECT_NE(says({f32, f16, 2}).find("takes none but 1"), std::string::npos);
  constexpr auto inf = std::numeric_limits<float>::infinity();
  for (const float scale : {0.0F, -1.0F, inf, std::nanf("")}) {
    EXPECT_EQ(check_conversion({f32, i8, scale}).code(), code::invalid_parameter) << scale;
  }
  EXPECT_FALSE(check_conversion({static_cast<number_type>(9), f32, 1}).ok());
}

} // namespace
} // namespace troupe
