// Hardware queue slots, live and in any order of events; tests/simulation has their exact times.

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "tests/behaviour/side_thread.hpp"
#include "tests/support/stage.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

runtime_options with_slots(unsigned slots) {
  auto made = patient_options(1);
  made.devices[0].queue_slots = slots;
  return made;
}

class two_slots : public stage_test {
protected:
  two_slots() : stage_test(with_slots(2)) {}

  [[nodiscard]] slot_counters slots() const { return dev.counters().slots; }
};

class one_slot : public stage_test {
protected:
  one_slot() : stage_test(with_slots(1)) {}
};

TEST_F(two_slots, S4_however_many_streams_work_no_more_are_served_and_all_get_done) {
  std::vector<stream> streams;
  std::atomic<int> ran = 0;
  for (unsigned i = 0; i < 12; ++i) streams.push_back(ctx.create_stream({i % 8, 0}).value());
  for (int round = 0; round < 20; ++round) {
    for (auto& each : streams) {
      ASSERT_THAT(each.launch("work", [&] { ++ran; }), IsOk());
      ASSERT_THAT(each.callback("note", [&] { ++ran; }), IsOk());
    }
  }
  EXPECT_THAT(ctx.synchronize(), IsOk());
  EXPECT_EQ(ran, 12 * 20 * 2);
  await([&] { return slots().served == 0; }); // given back once nobody waits for it any more
  EXPECT_EQ(slots().slots, 2U);
  EXPECT_LE(slots().served_high_water, 2U);
  EXPECT_EQ(slots().waiting, 0U);
}

TEST_F(one_slot, S4_a_stream_that_waits_for_an_event_gives_its_slot_to_who_records_it) {
  auto works = ctx.create_stream().value();
  auto held = rt.create_signal();
  auto done = ctx.create_event().value();
  std::string order;
  ASSERT_THAT(works.wait(held), IsOk());
  ASSERT_THAT(works.launch("work", [&] { order += 'a'; }), IsOk());
  ASSERT_THAT(works.record(done), IsOk());
  ASSERT_THAT(s.wait(done), IsOk());
  ASSERT_THAT(s.launch("work", [&] { order += 'b'; }), IsOk());
  held.raise();
  EXPECT_THAT(ctx.synchronize(), IsOk());
  EXPECT_EQ(order, "ab");
}

TEST_F(one_slot, S5_the_greatest_priority_gets_the_next_slot) {
  auto low = ctx.create_stream({7, 0}).value();
  auto high = ctx.create_stream({0, 0}).value();
  gate door;
  std::string order;
  ASSERT_THAT(s.callback("holds", [&] {
    if (!simulated()) door.pass();
  }), IsOk());
  if (!simulated()) door.await_arrivals();
  ASSERT_THAT(low.launch("work", [&] { order += 'l'; }), IsOk());
  ASSERT_THAT(high.launch("work", [&] { order += 'h'; }), IsOk());
  const bool both_wait = dev.counters().slots.waiting == 2;
  door.open();
  EXPECT_THAT(ctx.synchronize(), IsOk());
  EXPECT_EQ(order.size(), 2U);
  if (!simulated()) {
    EXPECT_TRUE(both_wait);
    EXPECT_EQ(order, "hl");
  }
}

TEST_F(one_slot, S4_abort_and_destroy_reach_a_stream_in_line_for_a_slot) {
  LIVE_ONLY("a gate inside a callback");
  auto in_line = ctx.create_stream().value();
  auto also = ctx.create_stream().value();
  gate door;
  std::atomic<int> ran = 0;
  ASSERT_THAT(s.callback("holds", [&] { door.pass(); }), IsOk());
  door.await_arrivals();
  ASSERT_THAT(in_line.launch("work", [&] { ++ran; }), IsOk());
  ASSERT_THAT(also.launch("work", [&] { ++ran; }), IsOk());
  side_thread waiter([&] { return in_line.synchronize(); });
  ASSERT_TRUE(waiter.waits_for(in_line));
  EXPECT_THAT(in_line.abort(), IsOk());
  EXPECT_THAT(waiter.join(), HasCode(code::stream_abort));
  EXPECT_THAT(also.destroy(true), IsOk());
  EXPECT_EQ(dev.counters().slots.waiting, 0U);
  EXPECT_EQ(ran, 0);
  ASSERT_THAT(in_line.launch("work", [&] { ++ran; }), IsOk());
  door.open();
  EXPECT_THAT(in_line.synchronize(), IsOk());
  EXPECT_EQ(ran, 1);
}

} // namespace
} // namespace troupe
