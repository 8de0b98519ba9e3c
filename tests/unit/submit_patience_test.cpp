#include "actors/submit_patience.hpp"

#include <thread>

#include <gtest/gtest.h>

namespace troupe {
namespace {

TEST(submit_patience_of_a_thread, is_what_the_option_says_without_one) {
  EXPECT_EQ(submit_patience::within(10'000), 10'000U);
  EXPECT_EQ(submit_patience::within(0), 0U);
}

TEST(submit_patience_of_a_thread, is_never_longer_than_the_option_says_and_the_innermost_counts) {
  const submit_patience outer(50);
  EXPECT_EQ(submit_patience::within(10'000), 50U);
  EXPECT_EQ(submit_patience::within(20), 20U);
  {
    const submit_patience inner(70);
    EXPECT_EQ(submit_patience::within(10'000), 70U);
  }
  EXPECT_EQ(submit_patience::within(10'000), 50U);
}

TEST(submit_patience_of_a_thread, is_nobody_elses) {
  const submit_patience here(50);
  unsigned there = 0;
  std::thread([&] { there = submit_patience::within(10'000); }).join();
  EXPECT_EQ(there, 10'000U);
}

} // namespace
} // namespace troupe
