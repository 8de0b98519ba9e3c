// Hardware queue slots: who is served, who waits and for how long, to the nanosecond.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/simulated.hpp"
#include "tests/support/status_matchers.hpp"
#include "troupe/testing.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

using testing::simulation_options;
using testing::stage;
using namespace std::chrono_literals;

// One device with `slots` slots and `engines` compute engines; "work" takes 1 ms.
simulation_options with_slots(unsigned slots, unsigned engines = 4) {
  simulation_options made;
  made.runtime.devices.resize(1);
  made.runtime.devices[0].queue_slots = slots;
  made.runtime.compute_threads = engines;
  made.costs.kernels["work"] = 1'000'000;
  return made;
}

TEST(slots, S4_surplus_streams_wait_for_a_slot_as_long_as_the_work_before_them_takes) {
  const auto report = play_out(with_slots(2), [](stage& here) {
    auto dev = here.runtime().device(0).value();
    auto ctx = dev.create_context().value();
    std::vector<stream> streams;
    for (int i = 0; i < 6; ++i) streams.push_back(ctx.create_stream().value());
    for (auto& each : streams) each.launch("work", [] {}).or_throw();
    here.pass_time(500us);
    const auto busy = dev.counters().slots;
    EXPECT_EQ(busy.slots, 2U);
    EXPECT_EQ(busy.served, 2U);
    EXPECT_EQ(busy.waiting, 4U);
    ctx.synchronize().or_throw();
    EXPECT_EQ(here.elapsed(), 3ms); // four engines, but two slots
    const auto after = dev.counters().slots;
    EXPECT_EQ(after.served, 0U);
    EXPECT_EQ(after.served_high_water, 2U);
    EXPECT_EQ(after.waiting, 0U);
    EXPECT_EQ(after.waits, 4U);
    EXPECT_EQ(after.waited_ns, 6'000'000);
    EXPECT_EQ(after.waited_max_ns, 2'000'000);
    EXPECT_EQ(streams[0].counters().slot_waits, 0U);
    EXPECT_EQ(streams[2].counters().slot_waits, 1U);
    EXPECT_EQ(streams[2].counters().slot_waited_ns, 1'000'000);
    EXPECT_EQ(streams[5].counters().slot_waited_ns, 2'000'000);
  });
  EXPECT_EQ(report.elapsed, 3ms);
}

TEST(slots, S4_with_enough_of_them_nobody_waits_and_the_parallelism_can_be_read) {
  play_out(with_slots(64), [](stage& here) {
    auto dev = here.runtime().device(0).value();
    auto ctx = dev.create_context().value();
    std::vector<stream> streams;
    for (int i = 0; i < 4; ++i) streams.push_back(ctx.create_stream().value());
    for (auto& each : streams) each.launch("work", [] {}).or_throw();
    ctx.synchronize().or_throw();
    EXPECT_EQ(here.elapsed(), 1ms);
    EXPECT_EQ(dev.counters().slots.served_high_water, 4U);
    EXPECT_EQ(dev.counters().slots.waits, 0U);
  });
}

TEST(slots, S4_a_stream_that_waits_for_an_event_gives_its_slot_to_who_records_it) {
  play_out(with_slots(1), [](stage& here) {
    auto dev = here.runtime().device(0).value();
    auto ctx = dev.create_context().value();
    auto waits = ctx.create_stream().value();
    auto works = ctx.create_stream().value();
    auto gate = here.runtime().create_signal();
    auto done = ctx.create_event().value();
    std::string order;
    works.wait(gate).or_throw();
    works.launch("work", [&] { order += 'a'; }).or_throw();
    works.record(done).or_throw();
    waits.launch("work", [&] { order += 'b'; }).or_throw();
    waits.wait(done).or_throw();
    waits.launch("work", [&] { order += 'c'; }).or_throw();
    gate.raise();
    EXPECT_THAT(ctx.synchronize(1s), IsOk());
    EXPECT_EQ(here.elapsed(), 3ms);
    EXPECT_EQ(order.back(), 'c');
    EXPECT_EQ(dev.counters().slots.served, 0U);
    EXPECT_EQ(dev.counters().slots.served_high_water, 1U);
  });
}

TEST(slots, S5_the_greatest_priority_gets_the_next_slot_and_the_least_gets_one_in_the_end) {
  play_out(with_slots(1), [](stage& here) {
    auto ctx = here.runtime().device(0).value().create_context().value();
    auto holds = ctx.create_stream().value();
    auto low = ctx.create_stream({7, 0}).value();
    auto high = ctx.create_stream({0, 0}).value();
    std::string order;
    holds.launch("work", [&] { order += 'x'; }).or_throw();
    low.launch("work", [&] { order += 'l'; }).or_throw();
    high.launch("work", [&] { order += 'h'; }).or_throw();
    high.launch("work", [&] { order += 'h'; }).or_throw();
    ctx.synchronize().or_throw();
    EXPECT_EQ(order, "xhhl");
  });
}

// Two streams of the greatest priority take turns for ever; the third is the least important one.
TEST(slots, S5_a_low_priority_is_not_starved_of_its_slot_for_ever) {
  play_out(with_slots(1), [](stage& here) {
    constexpr int tasks = 1'200;
    auto ctx = here.runtime().device(0).value().create_context().value();
    auto low = ctx.create_stream({7, 0}).value();
    std::vector<stream> busy{ctx.create_stream({0, tasks}).value(),
                             ctx.create_stream({0, tasks}).value()};
    int ran = 0;
    int before_low = -1;
    for (auto& each : busy) each.launch("work", [&ran] { ++ran; }).or_throw();
    low.launch("work", [&] { before_low = ran; }).or_throw();
    for (int i = 1; i < tasks; ++i) {
      for (auto& each : busy) each.launch("work", [&ran] { ++ran; }).or_throw();
      here.pass_time(1ms);
    }
    ctx.synchronize().or_throw();
    EXPECT_EQ(ran, 2 * tasks);
    EXPECT_GE(before_low, 0);
    EXPECT_LT(before_low, 2 * tasks) << "the low one ran last of all";
  });
}

TEST(slots, S4_kernels_and_copies_of_one_stream_do_not_keep_a_slot_from_others) {
  auto options = with_slots(1);
  play_out(options, [](stage& here) {
    auto ctx = here.runtime().device(0).value().create_context().value();
    auto greedy = ctx.create_stream().value();
    auto other = ctx.create_stream().value();
    int ran = 0;
    int before_other = -1;
    for (int i = 0; i < 10; ++i) {
      greedy.launch("work", [&] { ++ran; }).or_throw();
      greedy.callback("note", [] {}).or_throw();
    }
    other.launch("work", [&] { before_other = ran; }).or_throw();
    ctx.synchronize().or_throw();
    EXPECT_EQ(before_other, 1);
  });
}

TEST(slots, S4_abort_and_destroy_reach_a_stream_in_line_for_a_slot_at_once) {
  auto options = with_slots(1);
  options.costs.kernels["stuck"] = cost_model::never;
  play_out(options, [](stage& here) {
    auto dev = here.runtime().device(0).value();
    auto ctx = dev.create_context().value();
    auto holds = ctx.create_stream().value();
    auto in_line = ctx.create_stream().value();
    auto also = ctx.create_stream().value();
    bool ran = false;
    holds.launch("stuck", [] {}).or_throw();
    in_line.launch("work", [&] { ran = true; }).or_throw();
    also.launch("work", [&] { ran = true; }).or_throw();
    EXPECT_THAT(in_line.synchronize(10ms), SaysThat("it queues for a hardware slot"));
    EXPECT_THAT(in_line.abort(), IsOk());
    EXPECT_TRUE(in_line.query().value());
    EXPECT_THAT(also.destroy(true), IsOk());
    EXPECT_EQ(here.elapsed(), 10ms);
    EXPECT_EQ(dev.counters().slots.waiting, 0U);
    in_line.launch("work", [&] { ran = true; }).or_throw();
    EXPECT_FALSE(ran);
    EXPECT_THAT(holds.abort(), IsOk()); // the engine is given up on, and its slot comes free
    EXPECT_THAT(in_line.synchronize(), IsOk());
    EXPECT_TRUE(ran);
  });
}

TEST(slots, S4_any_order_of_events_serves_everybody_and_never_more_than_there_are_slots) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    auto options = with_slots(2);
    options.seed = seed;
    options.choice = testing::order::explore;
    options.expected_steps = 200;
    options.ends = testing::work_end::any_order;
    play_out(options, [seed](stage& here) {
      auto dev = here.runtime().device(0).value();
      auto ctx = dev.create_context().value();
      std::vector<stream> streams;
      for (unsigned i = 0; i < 5; ++i) streams.push_back(ctx.create_stream({i, 0}).value());
      auto mark = ctx.create_event().value();
      int ran = 0;
      for (int round = 0; round < 3; ++round) {
        for (auto& each : streams) {
          each.launch("work", [&ran] { ++ran; }).or_throw();
          if (round == 1) each.wait(mark).or_throw();
          each.callback("note", [&ran] { ++ran; }).or_throw();
          if (round == 1) each.record(mark).or_throw();
        }
      }
      if (seed % 4 == 0) streams[3].abort().or_throw();
      const auto outcome = ctx.synchronize(10s);
      EXPECT_TRUE(outcome.ok() || seed % 4 == 0) << seed << outcome.describe();
      for (auto& each : streams) (void)each.abort();
      here.pass_time(1s);
      if (seed % 4 != 0) {
        EXPECT_EQ(ran, 30) << seed;
      }
      EXPECT_EQ(dev.counters().slots.served, 0U) << seed;
      EXPECT_EQ(dev.counters().slots.waiting, 0U) << seed;
      EXPECT_LE(dev.counters().slots.served_high_water, 2U) << seed;
    });
  }
}

} // namespace
} // namespace troupe
