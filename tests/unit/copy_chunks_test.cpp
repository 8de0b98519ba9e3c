// Each form of copy goes on from any byte, says what it touches and is judged right.

#include <algorithm>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "actors/copy_loop.hpp"

namespace troupe {
namespace {

constexpr std::size_t large = 4'096;

class copy_chunks : public ::testing::TestWithParam<std::size_t> {
protected:
  copy_chunks() {
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i * 131 >> 3);
  }

  // Runs it in chunks, each of them judged.
  void run(copy_payload copy) {
    const auto whole = copy.bytes;
    while (copy.done < whole) {
      const auto before = copy;
      ASSERT_NE(copy_chunk(copy, GetParam()), 0U);
      ASSERT_FALSE(first_miscopied(before, copy)) << "at " << before.done;
    }
    ASSERT_EQ(copy.done, whole);
  }

  copy_payload of_rows(std::size_t width, std::size_t height, std::size_t to, std::size_t from) {
    copy_payload made;
    made.target = target.data();
    made.source = source.data();
    made.bytes = width * height;
    made.form = in_rows{width, to, from};
    return made;
  }

  std::vector<std::byte> source = std::vector<std::byte>(large);
  std::vector<std::byte> target = std::vector<std::byte>(large, std::byte{0xA5});
};

INSTANTIATE_TEST_SUITE_P(sizes, copy_chunks, ::testing::Values(1, 3, 10, 11, 64, 1'000, 100'000));

TEST_P(copy_chunks, rows_go_on_from_any_byte) {
  run(of_rows(11, 30, 20, 13));
  for (std::size_t i = 0; i < 30 * 20; ++i) {
    const auto wanted = i % 20 < 11 ? source[i / 20 * 13 + i % 20] : std::byte{0xA5};
    ASSERT_EQ(target[i], wanted) << i;
  }
}

TEST_P(copy_chunks, D5_overlapping_rows_of_one_pitch_end_as_if_read_first) {
  for (const std::size_t shift : {1U, 5U, 20U, 47U}) {
    for (const bool up : {true, false}) {
      auto moved = source;
      auto wanted = source;
      const std::size_t from = up ? 0 : shift;
      const std::size_t to = up ? shift : 0;
      for (std::size_t row = 0; row < 30; ++row) {
        std::copy_n(&source[row * 20 + from], 11, &wanted[row * 20 + to]);
      }
      auto copy = of_rows(11, 30, 20, 20);
      copy.target = moved.data() + to;
      copy.source = moved.data() + from;
      run(copy);
      ASSERT_EQ(moved, wanted) << shift << up;
    }
  }
}

TEST_P(copy_chunks, entries_go_on_from_any_byte_one_after_another) {
  const std::vector<copy_entry> entries{{target.data() + 50, source.data(), 40},
                                        {target.data() + 10, source.data() + 100, 1},
                                        {target.data() + 60, target.data() + 55, 30},
                                        {target.data() + 200, source.data() + 7, 100}};
  auto wanted = target;
  for (const auto& each : entries) {
    const auto* whole = target.data();
    const auto at = static_cast<std::byte*>(each.target) - whole;
    const auto* from = static_cast<const std::byte*>(each.source);
    const bool within = from >= whole && from < whole + large;
    std::vector<std::byte> read(within ? wanted.data() + (from - whole) : from,
                                (within ? wanted.data() + (from - whole) : from) + each.bytes);
    std::copy(read.begin(), read.end(), wanted.begin() + at);
  }
  copy_payload copy;
  copy.bytes = 171;
  copy.form = in_entries{entries.data(), 0, 0};
  run(copy);
  EXPECT_EQ(target, wanted);
}

TEST_P(copy_chunks, conversions_go_on_from_any_element) {
  copy_payload copy;
  copy.target = target.data() + 1;
  copy.source = source.data();
  copy.bytes = 2'000;
  copy.form = converted{{number_type::f32, number_type::f16, 1}};
  auto wanted = target;
  convert(wanted.data() + 1, source.data(), 1'000, {number_type::f32, number_type::f16, 1});
  run(copy);
  EXPECT_EQ(target, wanted);
}

TEST_P(copy_chunks, fills_keep_their_pattern_from_any_byte) {
  const std::byte value[]{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  auto fill = of_rows(10, 20, 16, 16);
  fill.source = nullptr;
  fill.value = fill_pattern(value);
  run(fill);
  for (std::size_t i = 0; i < 20 * 16; ++i) {
    ASSERT_EQ(target[i], i % 16 < 10 ? value[i % 16 % 4] : std::byte{0xA5}) << i;
  }
}

TEST_P(copy_chunks, one_wrong_byte_is_found_wherever_it_is) {
  const std::vector<copy_entry> entries{{target.data() + 50, source.data(), 40},
                                        {target.data() + 200, source.data() + 7, 60}};
  auto batch = of_rows(10, 10, 16, 13);
  batch.form = in_entries{entries.data(), 0, 0};
  auto fill = of_rows(10, 10, 16, 13);
  fill.source = nullptr;
  const struct {
    copy_payload copy;
    std::size_t place; // of the byte that is counted as 45
  } all[]{{of_rows(10, 10, 16, 13), 69}, {batch, 205}, {fill, 69}};
  for (auto [copy, place] : all) {
    std::size_t found = 0;
    while (copy.done < copy.bytes) {
      const auto before = copy;
      copy_chunk(copy, GetParam());
      target[place] ^= std::byte{1};
      const auto wrong = first_miscopied(before, copy);
      if (wrong) {
        EXPECT_EQ(*wrong, 45U);
        ++found;
      }
      target[place] ^= std::byte{1};
    }
    EXPECT_EQ(found, 1U);
  }
}

TEST(copy_ranges, D5_say_each_row_and_entry_and_nothing_between) {
  std::vector<std::byte> memory(1'000);
  std::vector<access_range> seen;
  const access_sink sink{[](void* all, const access_range& range) {
                           static_cast<std::vector<access_range>*>(all)->push_back(range);
                         },
                         &seen};
  copy_payload copy;
  copy.target = memory.data();
  copy.source = memory.data() + 500;
  copy.bytes = 20;
  copy.done = 15; // however far it has come
  copy.form = in_rows{10, 30, 40};
  copy_payload::ranges(&copy, sink);
  ASSERT_EQ(seen.size(), 4U);
  EXPECT_EQ(seen[2].base, memory.data() + 540);
  EXPECT_EQ(seen[2].mode, access_mode::read);
  EXPECT_EQ(seen[3].base, memory.data() + 30);
  EXPECT_EQ(seen[3].bytes, 10U);
  seen.clear();
  const copy_entry entries[]{{memory.data(), memory.data() + 500, 12},
                             {memory.data() + 90, memory.data() + 600, 8}};
  copy.form = in_entries{entries, 1, 3};
  copy_payload::ranges(&copy, sink);
  ASSERT_EQ(seen.size(), 4U);
  EXPECT_EQ(seen[1].bytes, 12U);
  EXPECT_EQ(seen[2].base, memory.data() + 600);
  seen.clear();
  copy.form = converted{{number_type::f32, number_type::f16, 1}};
  copy_payload::ranges(&copy, sink);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].bytes, 40U);
  EXPECT_EQ(seen[1].bytes, 20U);
}

} // namespace
} // namespace troupe
