#include "actors/scheduling/reply.hpp"

#include <optional>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "actors/scheduling/completion.hpp"
#include "tests/support/status_matchers.hpp"

namespace troupe {
namespace {

class reply_test : public ::testing::Test {
protected:
  reply<status> make() {
    return reply<status>([this](const status& answer) { answers.push_back(answer); });
  }
  std::vector<status> answers;
};

TEST_F(reply_test, gives_the_first_answer_and_ignores_later_ones) {
  {
    const auto debt = make();
    debt(make_status(code::queue_full, "first"));
    debt(status{});
    debt.fail(make_status(code::over_limit, "third"));
  }
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_THAT(answers[0], HasCode(code::queue_full));
}

TEST_F(reply_test, is_answered_by_the_last_copy_if_it_is_dropped) {
  std::optional first = make();
  std::optional second = first;
  first.reset();
  EXPECT_TRUE(answers.empty());
  second.reset();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_THAT(answers[0], HasCode(code::internal_error));
}

TEST_F(reply_test, all_copies_are_one_debt) {
  const auto first = make();
  const auto second = first; // NOLINT: the copy is the point
  second(status{});
  first(make_status(code::queue_full, "late"));
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_THAT(answers[0], IsOk());
}

TEST_F(reply_test, fails_a_result_with_its_status) {
  code seen = code::success;
  const reply<result<int>> debt([&seen](const result<int>& got) { seen = got.code(); });
  debt.fail(make_status(code::over_limit, "no"));
  EXPECT_EQ(seen, code::over_limit);
}

TEST(completion, is_set_for_ever_and_wakes_its_waiter) {
  completion point;
  EXPECT_FALSE(point.is_set());
  EXPECT_FALSE(point.block_until(1)); // long past
  int written = 0;
  std::thread other([&] {
    written = 1;
    point.set();
  });
  EXPECT_TRUE(point.block_until(never_ns));
  EXPECT_EQ(written, 1);
  other.join();
  point.set();
  EXPECT_TRUE(point.is_set());
  EXPECT_TRUE(point.block_until(1));
}

} // namespace
} // namespace troupe
