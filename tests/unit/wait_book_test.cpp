#include "actors/wait_book.hpp"

#include <memory>

#include <gtest/gtest.h>

namespace troupe {
namespace {

class wait_book_test : public ::testing::Test {
protected:
  void SetUp() override {
    for (const auto& each : {a, b, c}) {
      for (std::uint64_t number = 1; number <= 9; ++number) each->accept(number);
    }
  }
  std::shared_ptr<timeline> a = std::make_shared<timeline>(1);
  std::shared_ptr<timeline> b = std::make_shared<timeline>(2);
  std::shared_ptr<timeline> c = std::make_shared<timeline>(3);
  wait_book book;
};

TEST_F(wait_book_test, a_wait_covers_what_came_before_its_record_and_no_more) {
  EXPECT_FALSE(book.comes_after(*b, {a, 1}));
  book.note(*b, 4, {a, 5});
  EXPECT_TRUE(book.comes_after(*b, {a, 5}));
  EXPECT_TRUE(book.comes_after(*b, {a, 1}));
  EXPECT_FALSE(book.comes_after(*b, {a, 6}));
  EXPECT_FALSE(book.comes_after(*a, {b, 1})) << "not the other way round";
  book.note(*b, 5, {a, 3}); // an older record, waited for later
  EXPECT_TRUE(book.comes_after(*b, {a, 5}));
}

TEST_F(wait_book_test, waits_reach_on_through_streams_as_far_as_these_had_waited_by_then) {
  book.note(*b, 4, {a, 5});
  book.note(*c, 1, {b, 3}); // b's wait comes after that
  EXPECT_FALSE(book.comes_after(*c, {a, 5}));
  book.note(*c, 2, {b, 4});
  EXPECT_TRUE(book.comes_after(*c, {a, 5}));
  book.note(*a, 6, {c, 2}); // a ring
  EXPECT_FALSE(book.comes_after(*c, {a, 9}));
}

TEST_F(wait_book_test, a_wait_that_an_abort_dropped_counts_no_more) {
  book.note(*b, 4, {a, 5});
  b->abort();
  EXPECT_FALSE(book.comes_after(*b, {a, 5}));
  b->accept(10);
  book.note(*b, 10, {a, 5});
  EXPECT_TRUE(book.comes_after(*b, {a, 5}));
  book.forget(b->id());
  EXPECT_FALSE(book.comes_after(*b, {a, 5}));
}

} // namespace
} // namespace troupe
