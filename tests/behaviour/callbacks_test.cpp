// Host callbacks in stream order: I1, I5, and what they may call.

#include <atomic>
#include <stdexcept>
#include <vector>

#include "tests/behaviour/side_thread.hpp"

namespace troupe {
namespace {

class callbacks : public stage_test {
protected:
  callbacks() : stage_test(patient_options()) {}
  ~callbacks() override {
    door.open();
    (void)ctx.synchronize(); // nobody is at the door any more when it goes
  }

  gate door;
};

TEST_F(callbacks, I1_callback_holds_back_its_stream_and_no_other) {
  std::atomic<int> calls = 0;
  std::atomic<bool> next_ran = false;
  ASSERT_THAT(s.callback("held", [&] {
    ++calls;
    door.pass();
  }), IsOk());
  ASSERT_THAT(s.launch("next", [&] { next_ran = true; }), IsOk());
  door.await_arrivals();
  constexpr int others = 50;
  std::atomic<int> done = 0;
  std::vector<stream> streams;
  for (int i = 0; i < others; ++i) {
    auto& each = streams.emplace_back(ctx.create_stream().value());
    ASSERT_THAT(each.callback("call", [&] { ++done; }), IsOk());
    ASSERT_THAT(each.launch("task", [&] { ++done; }), IsOk());
  }
  for (auto& each : streams) EXPECT_THAT(each.synchronize(), IsOk());
  EXPECT_EQ(done, 2 * others) << "while the door was shut";
  EXPECT_FALSE(next_ran);
  EXPECT_FALSE(s.query().value());
  door.open();
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_TRUE(next_ran);
  EXPECT_EQ(calls, 1);
}

TEST_F(callbacks, I1_callbacks_and_tasks_of_one_stream_run_once_each_and_in_order) {
  std::vector<int> order; // no lock: stream order is what keeps the writers apart
  constexpr int rounds = 200;
  for (int i = 0; i < rounds; ++i) {
    const auto note = [&order, i] { order.push_back(i); };
    ASSERT_THAT(i % 2 == 0 ? s.callback("call", note) : s.launch("task", note), IsOk());
  }
  ASSERT_THAT(s.synchronize(), IsOk());
  ASSERT_EQ(order.size(), std::size_t{rounds});
  for (int i = 0; i < rounds; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST_F(callbacks, I1_callback_sees_what_the_tasks_before_it_wrote) {
  auto data = rt.allocate_host<int>(1).value();
  auto on_device = ctx.allocate<int>(1).value();
  int seen = 0;
  ASSERT_THAT(s.launch("write", [](gsl::span<int> out) { out[0] = 9; }, on_device), IsOk());
  ASSERT_THAT(s.copy(data, on_device), IsOk());
  ASSERT_THAT(s.callback("read", [&] { seen = data[0]; }), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(seen, 9);
}

TEST_F(callbacks, I5_throwing_callback_fails_its_task_and_the_stream_goes_on) {
  bool next_ran = false;
  ASSERT_THAT(s.callback("careless", [] { throw std::runtime_error("spilled"); }), IsOk());
  ASSERT_THAT(s.callback("odd", [] { throw 7; }), IsOk());
  ASSERT_THAT(s.launch("next", [&] { next_ran = true; }), IsOk());
  const auto outcome = s.synchronize();
  EXPECT_THAT(outcome, HasCode(code::internal_error));
  EXPECT_THAT(outcome, SaysThat("careless"));
  EXPECT_THAT(outcome, SaysThat("spilled"));
  EXPECT_TRUE(next_ran);
  EXPECT_EQ(s.failures().size(), 2U);
  EXPECT_THAT(s.callback("again", [] {}), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(callbacks, I5_in_stop_mode_a_throwing_callback_ends_the_context) {
  const auto hold = rt.create_signal();
  std::atomic<bool> next_ran = false;
  ASSERT_THAT(s.set_failure_mode(failure_mode::stop), IsOk());
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.callback("careless", [] { throw std::runtime_error("spilled"); }), IsOk());
  ASSERT_THAT(s.callback("next", [&] { next_ran = true; }), IsOk());
  hold.raise();
  EXPECT_THAT(s.synchronize(), HasCode(code::internal_error));
  EXPECT_THAT(s.callback("later", [] {}), SaysThat("spilled"));
  EXPECT_FALSE(next_ran);
}

TEST_F(callbacks, I5_sleeping_callbacks_hold_up_neither_control_nor_devices) {
  const std::size_t sleepers = 2 * test_workers() + 4;
  std::vector<stream> streams;
  for (std::size_t i = 0; i < sleepers; ++i) {
    auto& each = streams.emplace_back(ctx.create_stream().value());
    ASSERT_THAT(each.callback("asleep", [&] { door.pass(); }), IsOk());
  }
  door.await_arrivals(sleepers);
  std::vector<int> host(16, 5);
  auto memory = ctx.allocate<int>(host.size());
  ASSERT_THAT(memory, IsOk());
  for (int i = 0; i < 100; ++i) {
    ASSERT_THAT(s.copy(memory.value(), host), IsOk());
    ASSERT_THAT(s.launch("task", [] {}), IsOk());
    ASSERT_FALSE(streams.front().query().value());
  }
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_THAT(streams.front().abort(), IsOk());
}

TEST_F(callbacks, decision_8_callback_may_query_but_neither_submit_nor_wait) {
  status submitted, waited, allocated, aborted, queried;
  ASSERT_THAT(s.callback("curious", [&] {
    submitted = s.launch("inner", [] {});
    waited = s.synchronize();
    allocated = ctx.allocate<int>(1).error();
    aborted = s.abort();
    queried = s.query().error();
  }), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  for (const auto& each : {submitted, waited, allocated, aborted}) {
    EXPECT_THAT(each, HasCode(code::not_supported));
    EXPECT_THAT(each, SaysThat("curious"));
  }
  EXPECT_THAT(queried, IsOk());
}

} // namespace
} // namespace troupe
