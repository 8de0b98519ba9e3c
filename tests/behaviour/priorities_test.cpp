// Which stream an engine serves next. One compute engine, so that there is an order to see.

#include <vector>

#include "tests/support/stage.hpp"

namespace troupe {
namespace {

runtime_options one_engine() {
  auto made = test_options(1);
  made.compute_threads = 1;
  return made;
}

class priorities : public stage_test {
protected:
  priorities() : stage_test(one_engine()) {}

  stream with_priority(unsigned priority, unsigned queue_depth = 0) {
    return ctx.create_stream({priority, queue_depth}).value();
  }

  /// Keeps the engine busy until `hold` is opened.
  void occupy_engine() {
    ASSERT_THAT(s.launch("occupy", [this] { hold.pass(); }), IsOk());
    hold.await_arrivals();
  }

  gate hold;
};

TEST_F(priorities, a_stream_of_greater_priority_is_served_first) {
  LIVE_ONLY("its kernels wait for the test");
  occupy_engine();
  std::vector<unsigned> order; // one engine: not guarded
  std::vector<stream> made;
  for (const unsigned priority : {7U, 3U, 5U, 0U}) {
    made.push_back(with_priority(priority));
    EXPECT_EQ(made.back().priority(), priority);
    ASSERT_THAT(made.back().launch("note", [&order, priority] { order.push_back(priority); }),
                IsOk());
  }
  hold.open();
  ASSERT_THAT(ctx.synchronize(), IsOk());
  EXPECT_EQ(order, (std::vector<unsigned>{0, 3, 5, 7}));
}

TEST_F(priorities, streams_of_equal_priority_are_served_in_the_order_they_came) {
  LIVE_ONLY("its kernels wait for the test");
  occupy_engine();
  std::vector<int> order;
  std::vector<stream> made;
  for (int i = 0; i < 5; ++i) {
    made.push_back(with_priority(4));
    ASSERT_THAT(made.back().launch("note", [&order, i] { order.push_back(i); }), IsOk());
  }
  hold.open();
  ASSERT_THAT(ctx.synchronize(), IsOk());
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST_F(priorities, a_greater_priority_cuts_in_between_two_tasks_of_a_lesser_one) {
  LIVE_ONLY("its kernels wait for the test");
  auto low = with_priority(7);
  auto high = with_priority(0);
  std::vector<int> order;
  ASSERT_THAT(low.launch("first", [this] { hold.pass(); }), IsOk());
  ASSERT_THAT(low.launch("second", [&order] { order.push_back(7); }), IsOk());
  hold.await_arrivals();
  ASSERT_THAT(high.launch("urgent", [&order] { order.push_back(0); }), IsOk());
  hold.open();
  ASSERT_THAT(ctx.synchronize(), IsOk());
  EXPECT_EQ(order, (std::vector<int>{0, 7}));
}

TEST_F(priorities, a_low_priority_is_not_starved_for_ever) {
  LIVE_ONLY("its kernels wait for the test");
  constexpr unsigned tasks = 2'000;
  occupy_engine();
  unsigned ran = 0;
  unsigned ran_before_low = 2 * tasks;
  std::vector<stream> busy{with_priority(0, tasks), with_priority(0, tasks)};
  auto low = with_priority(7);
  ASSERT_THAT(low.launch("low", [&] { ran_before_low = ran; }), IsOk());
  for (auto& each : busy) {
    for (unsigned i = 0; i < tasks; ++i) {
      ASSERT_THAT(each.launch("high", [&ran] { ++ran; }), IsOk());
    }
  }
  hold.open();
  ASSERT_THAT(ctx.synchronize(), IsOk());
  EXPECT_EQ(ran, 2 * tasks);
  EXPECT_LT(ran_before_low, 2 * tasks) << "the low task ran last of all";
}

TEST_F(priorities, streams_of_one_priority_take_turns) {
  LIVE_ONLY("its kernels wait for the test");
  constexpr unsigned tasks = 1'000;
  occupy_engine();
  unsigned ran_of_first = 0;
  unsigned seen_by_second = tasks;
  auto first = with_priority(4, tasks);
  auto second = with_priority(4);
  for (unsigned i = 0; i < tasks; ++i) {
    ASSERT_THAT(first.launch("first", [&] { ++ran_of_first; }), IsOk());
  }
  ASSERT_THAT(second.launch("second", [&] { seen_by_second = ran_of_first; }), IsOk());
  hold.open();
  ASSERT_THAT(ctx.synchronize(), IsOk());
  EXPECT_LT(seen_by_second, tasks);
}

TEST_F(priorities, a_priority_outside_0_to_7_is_refused) {
  EXPECT_THAT(ctx.create_stream({8, 0}), HasCode(code::invalid_parameter));
  EXPECT_THAT(ctx.create_stream({~0U, 0}), HasCode(code::invalid_parameter));
}

} // namespace
} // namespace troupe
