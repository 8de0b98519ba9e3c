#include "actors/scheduling/timer_queue.hpp"

#include <memory>
#include <vector>

#include <gmock/gmock.h>

namespace troupe {
namespace {

class timer_queue_test : public ::testing::Test {
protected:
  std::function<void()> note(int what) {
    return [this, what] { fired.push_back(what); };
  }

  timer_queue timers;
  std::vector<int> fired;
};

TEST_F(timer_queue_test, runs_what_is_due_in_the_order_of_time_and_scheduling) {
  timers.schedule(30, note(3));
  timers.schedule(10, note(1));
  timers.schedule(10, note(2));
  EXPECT_EQ(timers.next_due(), 10);
  EXPECT_EQ(timers.run_due(9), 0U);
  EXPECT_EQ(timers.run_due(10), 2U);
  EXPECT_THAT(fired, ::testing::ElementsAre(1, 2));
  EXPECT_EQ(timers.next_due(), 30);
  EXPECT_EQ(timers.run_due(1000), 1U);
  EXPECT_EQ(timers.next_due(), never_ns);
}

TEST_F(timer_queue_test, forgets_a_cancelled_timer_with_all_it_holds) {
  const auto held = std::make_shared<int>(1);
  const auto id = timers.schedule(10, [held] {});
  EXPECT_EQ(held.use_count(), 2);
  EXPECT_TRUE(timers.cancel(id));
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_FALSE(timers.cancel(id));
  EXPECT_EQ(timers.run_due(100), 0U);
}

TEST_F(timer_queue_test, cannot_cancel_what_fires_or_has_fired) {
  timer_queue::timer_id self = 0;
  bool cancelled = true;
  self = timers.schedule(10, [&] { cancelled = timers.cancel(self); });
  EXPECT_EQ(timers.run_due(10), 1U);
  EXPECT_FALSE(cancelled);
}

TEST_F(timer_queue_test, an_action_may_schedule_the_next) {
  timers.schedule(10, [this] {
    note(1)();
    timers.schedule(20, note(2));
    timers.schedule(99, note(3));
  });
  EXPECT_EQ(timers.run_due(20), 2U);
  EXPECT_THAT(fired, ::testing::ElementsAre(1, 2));
  EXPECT_EQ(timers.size(), 1U);
}

TEST_F(timer_queue_test, clear_forgets_all) {
  const auto held = std::make_shared<int>(1);
  timers.schedule(10, [held] {});
  timers.schedule(20, [held] {});
  timers.clear();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(timers.size(), 0U);
  EXPECT_EQ(timers.next_due(), never_ns);
}

} // namespace
} // namespace troupe
