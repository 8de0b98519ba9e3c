#include "actors/engine_port.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <vector>

#include "tests/support/stage.hpp"

namespace troupe {
namespace {

runtime_options with_one_engine() {
  auto made = test_options(1);
  made.compute_threads = 1;
  return made;
}

// One engine, so that the order of its choices is the order of the kernels.
class engine_port_test : public stage_test {
protected:
  engine_port_test() : stage_test(with_one_engine()) {}

  stream make(unsigned priority) { return ctx.create_stream({priority, 0}).value(); }

  void hold_engine() {
    ASSERT_THAT(s.launch("hold", [this] { door.pass(); }), IsOk());
    door.await_arrivals();
  }
  void run(stream& on, unsigned what) {
    ASSERT_THAT(on.launch("note", [this, what] { order.push_back(what); }), IsOk());
  }

  gate door;
  std::vector<unsigned> order;
};

TEST_F(engine_port_test, serves_the_greatest_priority_first_and_equals_in_turn) {
  hold_engine();
  std::vector<stream> streams;
  for (const auto priority : {7U, 0U, 3U, 3U}) streams.push_back(make(priority));
  for (unsigned i = 0; i < streams.size(); ++i) run(streams[i], i);
  door.open();
  ASSERT_THAT(ctx.synchronize(), IsOk());
  EXPECT_EQ(order, (std::vector<unsigned>{1, 2, 3, 0}));
}

TEST_F(engine_port_test, lets_no_priority_starve) {
  hold_engine();
  auto low = make(7);
  run(low, 1000);
  std::vector<stream> streams;
  for (unsigned i = 0; i < 2 * engine_port::fairness_interval; ++i) {
    streams.push_back(make(0));
    run(streams.back(), i);
  }
  door.open();
  ASSERT_THAT(ctx.synchronize(), IsOk());
  const auto place = std::find(order.begin(), order.end(), 1000U) - order.begin();
  EXPECT_LT(place, std::ptrdiff_t{engine_port::fairness_interval});
}

TEST_F(engine_port_test, a_stream_that_waits_in_the_queue_is_aborted_without_an_engine) {
  hold_engine();
  auto waits = make(4);
  run(waits, 1);
  ASSERT_THAT(waits.abort(), IsOk());
  while (!waits.query().value()) std::this_thread::yield(); // while the engine is held
  EXPECT_EQ(dev.counters().compute.waiting, 0U);
  door.open();
  ASSERT_THAT(ctx.synchronize(), IsOk());
  EXPECT_TRUE(order.empty());
}

// The wait comes to its turn only after its record was dropped.
TEST_F(engine_port_test, a_stream_stalled_by_a_dropped_record_takes_no_engine) {
  auto source = make(4);
  auto stalled = make(4);
  const auto mark = ctx.create_event().value();
  const auto first = rt.create_signal();
  ASSERT_THAT(source.wait(first), IsOk());
  ASSERT_THAT(source.record(mark), IsOk());
  hold_engine();
  run(stalled, 1);
  ASSERT_THAT(stalled.wait(mark), IsOk());
  ASSERT_THAT(source.abort(), IsOk());
  while (!source.query().value()) std::this_thread::yield();
  door.open();
  ASSERT_THAT(s.synchronize(), IsOk());
  run(s, 2);
  ASSERT_THAT(s.synchronize(), IsOk()); // on the only engine
  EXPECT_EQ(order, (std::vector<unsigned>{1, 2}));
  EXPECT_FALSE(stalled.query().value());
  ASSERT_THAT(stalled.abort(), IsOk());
  while (!stalled.query().value()) std::this_thread::yield();
  run(stalled, 3);
  EXPECT_THAT(stalled.synchronize(), IsOk());
}

TEST_F(engine_port_test, a_record_on_an_idle_stream_after_an_abort_is_reached) {
  const auto hold = rt.create_signal();
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.abort(), IsOk());
  while (!s.query().value()) std::this_thread::yield();
  const auto mark = ctx.create_event().value();
  ASSERT_THAT(s.record(mark), IsOk());
  EXPECT_THAT(mark.synchronize(), IsOk());
  EXPECT_TRUE(mark.query().value());
}

TEST_F(engine_port_test, a_failure_in_stop_mode_ends_streams_that_wait) {
  auto waits = make(4);
  auto fails = make(4);
  ASSERT_THAT(fails.set_failure_mode(failure_mode::stop), IsOk());
  const auto never = rt.create_signal();
  ASSERT_THAT(waits.wait(never), IsOk());
  ASSERT_THAT(fails.launch("fails", [] { throw std::runtime_error("as planned"); }), IsOk());
  EXPECT_THAT(fails.synchronize(), HasCode(code::kernel_exception));
  EXPECT_THAT(waits.synchronize(), HasCode(code::kernel_exception)); // though nobody raises it
}

TEST_F(engine_port_test, an_expired_wait_is_let_go_while_its_signal_stays_down) {
  const auto never = rt.create_signal();
  ASSERT_THAT(s.wait(never, timeout(1)), IsOk());
  run(s, 1);
  EXPECT_THAT(s.synchronize(), HasCode(code::task_timeout));
  EXPECT_EQ(order, (std::vector<unsigned>{1}));
  EXPECT_FALSE(never.raised());
}

TEST_F(engine_port_test, another_engine_stands_in_for_one_that_does_not_return) {
  hold_engine();
  ASSERT_THAT(s.abort(), IsOk());
  while (!s.query().value()) std::this_thread::yield();
  run(s, 1);
  ASSERT_THAT(s.synchronize(), IsOk()); // while the first engine is inside its kernel
  EXPECT_EQ(order, (std::vector<unsigned>{1}));
  door.open();
}

} // namespace
} // namespace troupe
