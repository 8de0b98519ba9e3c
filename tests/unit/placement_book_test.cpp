#include "core/dataflow/placement_book.hpp"

#include <algorithm>
#include <array>
#include <random>

#include <gtest/gtest.h>

namespace troupe {
namespace {

using copies = std::vector<placement_book::copy>;

std::array<std::byte, 64> memory;

TEST(choose_place, S12_goes_where_most_bytes_lie) {
  EXPECT_EQ(choose_place(std::array<place_offer, 3>{{{8, 0}, {100, 3}, {99, 0}}}, 4), 1U);
}

TEST(choose_place, S12_of_equals_the_least_loaded_then_the_first) {
  EXPECT_EQ(choose_place(std::array<place_offer, 3>{{{8, 2}, {8, 1}, {8, 1}}}, 4), 1U);
}

TEST(choose_place, S12_leaves_the_bytes_when_there_is_too_much_to_do) {
  EXPECT_EQ(choose_place(std::array<place_offer, 2>{{{100, 5}, {0, 2}}}, 4), 0U);
  EXPECT_EQ(choose_place(std::array<place_offer, 2>{{{100, 6}, {0, 2}}}, 4), 1U);
}

TEST(choose_place, S12_of_the_least_loaded_takes_the_one_with_most_bytes) {
  EXPECT_EQ(choose_place(std::array<place_offer, 4>{{{100, 9}, {0, 2}, {5, 2}, {5, 2}}}, 4), 2U);
}

TEST(placement_book, S12_finds_exactly_what_was_entered) {
  placement_book book;
  const auto first = book.add(memory.data(), 16, 1);
  const auto second = book.add(memory.data(), 8, 1);
  EXPECT_EQ(book.find(memory.data(), 16, 1), first);
  EXPECT_EQ(book.find(memory.data(), 8, 1), second);
  EXPECT_EQ(book.find(memory.data(), 16, 0), std::nullopt);
  EXPECT_EQ(book.find(memory.data() + 1, 8, 1), std::nullopt);
}

TEST(placement_book, S12_a_copy_is_void_once_any_byte_is_written) {
  placement_book book;
  const auto left = book.add(memory.data(), 16, 1);
  const auto right = book.add(memory.data() + 16, 16, 2);
  const auto both = book.add(memory.data(), 32, 1);
  EXPECT_EQ(book.written(memory.data() + 32, 8), copies{});
  EXPECT_EQ(book.written(memory.data() + 15, 1), (copies{left, both}));
  EXPECT_EQ(book.find(memory.data() + 16, 16, 2), right);
  EXPECT_EQ(book.size(), 1U);
}

TEST(placement_book, S12_forgets_one_by_its_number) {
  placement_book book;
  const auto known = book.add(memory.data(), 16, 1);
  book.forget(known);
  book.forget(known);
  EXPECT_EQ(book.size(), 0U);
  EXPECT_EQ(book.add(memory.data(), 16, 1), known + 1);
}

TEST(placement_book, S12_a_mark_stands_where_memory_begins) {
  placement_book book;
  const auto first = book.set_mark(memory.data());
  EXPECT_EQ(book.mark_at(memory.data()), first);
  EXPECT_EQ(book.mark_at(memory.data() + 1), std::nullopt);
  const auto second = book.set_mark(memory.data());
  book.remove_mark(first);
  EXPECT_EQ(book.mark_at(memory.data()), second);
  book.remove_mark(second);
  EXPECT_EQ(book.mark_at(memory.data()), std::nullopt);
}

// Against a list of all copies that is looked through.
TEST(placement_book, S12_random_writes_void_what_they_touch) {
  struct known {
    placement_book::copy number;
    std::size_t begin, bytes, place;
  };
  std::minstd_rand chance(5);
  placement_book book;
  std::vector<known> all;
  for (int turn = 0; turn < 5'000; ++turn) {
    const auto begin = chance() % 56;
    const auto bytes = 1 + chance() % 8;
    if (chance() % 3 != 0) {
      const auto place = chance() % 3;
      const auto* base = memory.data() + begin;
      if (!book.find(base, bytes, place)) {
        all.push_back({book.add(base, bytes, place), begin, bytes, place});
      }
    } else {
      copies gone;
      for (const auto& each : all) {
        if (each.begin < begin + bytes && begin < each.begin + each.bytes) {
          gone.push_back(each.number);
        }
      }
      std::erase_if(all, [&](const auto& each) {
        return std::ranges::find(gone, each.number) != gone.end();
      });
      ASSERT_EQ(book.written(memory.data() + begin, bytes), gone) << turn;
    }
    ASSERT_EQ(book.size(), all.size());
  }
  for (const auto& each : all) {
    EXPECT_EQ(book.find(memory.data() + each.begin, each.bytes, each.place), each.number);
  }
}

} // namespace
} // namespace troupe
