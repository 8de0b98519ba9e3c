#include "core/stable_hash.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace troupe {
namespace {

// The figures below are part of what is promised: a seed printed today must mean the same run in a
// regression test of next year.

TEST(stable_hash, gives_the_same_figures_for_ever) {
  static_assert(stable_hash().value() == 0);
  static_assert(stable_hash().add(std::uint64_t{0}).value() == 0xE220A8397B1DCDAFULL);
  EXPECT_EQ(stable_hash(7).add("stream 3").add(std::uint64_t{12}).value(), 0x631512A2DE86726DULL);
  EXPECT_EQ(stable_hash(7).add("").value(), stable_hash(7).add(std::uint64_t{0}).value());
}

TEST(stable_hash, reads_every_byte_of_a_text_unsigned_and_in_order) {
  std::set<std::uint64_t> seen;
  std::size_t texts = 0;
  const std::string base = "channel of length 20";
  for (std::size_t i = 0; i < base.size(); ++i) {
    auto changed = base;
    changed[i] = '\xFF';
    seen.insert(stable_hash(1).add(changed).value());
    seen.insert(stable_hash(1).add(base.substr(0, i)).value());
    texts += 2;
  }
  for (const char* text : {"ab", "ba", "abc", "cba"}) {
    seen.insert(stable_hash(1).add(text).value());
    ++texts;
  }
  EXPECT_EQ(seen.size(), texts);
  // 0xFF as a byte, not as -1: it must not spill into the bytes beside it.
  EXPECT_EQ(stable_hash(1).add("\xFF").value(),
            stable_hash(1).add(std::uint64_t{1}).add(std::uint64_t{0xFF}).value());
}

TEST(stable_hash, tells_the_cuts_and_the_order_of_pieces_apart) {
  const auto of = [](auto a, auto b) { return stable_hash(5).add(a).add(b).value(); };
  EXPECT_NE(of("ab", "c"), of("a", "bc"));
  EXPECT_NE(of("ab", "c"), of("c", "ab"));
  EXPECT_NE(of(std::uint64_t{1}, std::uint64_t{2}), of(std::uint64_t{2}, std::uint64_t{1}));
  EXPECT_NE(stable_hash(1).add("a").value(), stable_hash(2).add("a").value());
}

TEST(stable_hash, one_changed_bit_changes_about_half_of_the_result) {
  int changed = 0;
  for (unsigned bit = 0; bit < 64; ++bit) {
    const auto a = stable_hash(3).add(std::uint64_t{42}).value();
    const auto b = stable_hash(3).add(std::uint64_t{42} ^ (std::uint64_t{1} << bit)).value();
    changed += std::popcount(a ^ b);
  }
  EXPECT_GT(changed, 64 * 28);
  EXPECT_LT(changed, 64 * 36);
}

TEST(stable_random, is_the_published_sequence_of_splitmix64) {
  stable_random draw(1234567);
  EXPECT_EQ(draw.next(), 6457827717110365317ULL);
  EXPECT_EQ(draw.next(), 3203168211198807973ULL);
  EXPECT_EQ(draw.next(), 9817491932198370423ULL);
  EXPECT_EQ(draw.next(), 4593380528125082431ULL);
  EXPECT_EQ(draw.next(), 16408922859458223821ULL);
}

TEST(stable_random, draws_below_a_limit_evenly_and_reaches_every_value) {
  stable_random draw(9);
  std::array<int, 7> counts{};
  for (int i = 0; i < 7000; ++i) ++counts.at(draw.below(counts.size()));
  for (const int count : counts) {
    EXPECT_GT(count, 850);
    EXPECT_LT(count, 1150);
  }
  EXPECT_EQ(draw.below(1), 0U);
}

TEST(stable_random, does_not_favour_small_values_below_a_huge_limit) {
  // Of 3 * 2^62, a plain remainder would give the lowest third twice as often as the others.
  stable_random draw(10);
  const std::uint64_t limit = std::uint64_t{3} << 62;
  int low = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto value = draw.below(limit);
    EXPECT_LT(value, limit);
    low += value < (std::uint64_t{1} << 62);
  }
  EXPECT_GT(low, 850);
  EXPECT_LT(low, 1150);
}

TEST(stable_random, gives_fractions_from_zero_to_below_one) {
  EXPECT_EQ(to_unit(0), 0.0);
  EXPECT_LT(to_unit(~std::uint64_t{0}), 1.0);
  EXPECT_EQ(to_unit(std::uint64_t{1} << 63), 0.5);
  stable_random draw(11);
  double sum = 0;
  for (int i = 0; i < 1000; ++i) sum += draw.unit();
  EXPECT_NEAR(sum / 1000, 0.5, 0.05);
}

TEST(stable_random, chance_is_never_at_zero_and_always_at_one) {
  stable_random draw(12);
  int hits = 0;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(draw.chance(0));
    EXPECT_TRUE(draw.chance(1));
    hits += draw.chance(0.25);
  }
  EXPECT_GT(hits, 200);
  EXPECT_LT(hits, 300);
}

TEST(stable_random, shuffles_repeatably_and_loses_nothing) {
  std::vector<int> first(50);
  std::iota(first.begin(), first.end(), 0);
  auto second = first;
  const auto sorted = first;
  stable_random(4).shuffle(gsl::span<int>(first));
  stable_random(4).shuffle(gsl::span<int>(second));
  EXPECT_EQ(first, second);
  EXPECT_NE(first, sorted);
  EXPECT_TRUE(std::ranges::is_permutation(first, sorted));
  // Each of the 6 orders of 3 comes up about as often.
  stable_random draw(5);
  std::array<int, 3> three{};
  std::array<int, 400> seen{};
  for (int i = 0; i < 6000; ++i) {
    three = {1, 2, 3};
    draw.shuffle(gsl::span<int>(three));
    ++seen.at(static_cast<std::size_t>(three[0] * 100 + three[1] * 10 + three[2]));
  }
  for (const std::size_t order : {123U, 132U, 213U, 231U, 312U, 321U}) {
    EXPECT_GT(seen.at(order), 850) << order;
    EXPECT_LT(seen.at(order), 1150) << order;
  }
}

} // namespace
} // namespace troupe
