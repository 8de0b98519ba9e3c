// The runtime's own actors, which no device stands for: when one dies another takes its place, and
// what is lost on the way to them is made up for.

#include <chrono>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/simulated.hpp"
#include "tests/support/status_matchers.hpp"
#include "troupe/testing.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

using testing::stage;
using namespace std::chrono_literals;

fault_entry at_message(const char* kind, fault_action action) {
  auto made = fault_at(fault_point::message, action);
  made.pick.message = kind;
  return made;
}

// Under a fault that must strike `times` times.
void play_under(fault_entry entry, std::uint64_t times, const std::function<void(stage&)>& body) {
  entry.pick.times = times;
  const auto report = play_out(under(entry), body);
  EXPECT_EQ(report.faults.fired, times);
}

TEST(dead_keepers, of_pinned_memory_refuse_one_call_and_are_replaced) {
  for (const auto& action : {fault_action::kill_actor(), fault_action::restart_actor()}) {
    play_under(at_message("allocate_block", action), 1, [](stage& here) {
      auto& rt = here.runtime();
      const auto refused = rt.allocate_host<int>(8);
      EXPECT_THAT(refused, HasCode(code::internal_error));
      ASSERT_TRUE(refused.error().record());
      EXPECT_EQ(refused.error().record()->plan_entry, "the fault");
      here.pass_time(1ms);
      EXPECT_THAT(rt.allocate_host<int>(8), IsOk());
      EXPECT_EQ(rt.host_memory().value().used, 0U);
    });
  }
}

TEST(dead_keepers, of_pinned_memory_leave_what_was_handed_out_to_its_holders) {
  play_under(at_message("settle_memory", fault_action::kill_actor()), 1, [](stage& here) {
    auto& rt = here.runtime();
    {
      auto block = rt.allocate_host<int>(8).value();
      block.data()[7] = 3;
      EXPECT_FALSE(rt.host_memory().ok());
      here.pass_time(1ms);
      EXPECT_GE(rt.host_memory().value().used, 32U);
      EXPECT_EQ(block.data()[7], 3);
    }
    EXPECT_EQ(rt.host_memory().value().used, 0U);
  });
}

TEST(dead_keepers, the_root_refuses_one_device_and_opens_it_and_others_when_asked_again) {
  play_under(at_message("open_device", fault_action::kill_actor()), 1, [](stage& here) {
    auto& rt = here.runtime();
    const auto refused = rt.device(0);
    EXPECT_THAT(refused, HasCode(code::internal_error));
    EXPECT_EQ(refused.error().record()->plan_entry, "the fault");
    here.pass_time(1ms);
    for (int i = 0; i < 2; ++i) {
      EXPECT_THAT(rt.device(i).value().create_context(), IsOk());
    }
  });
}

// Fails `count` tasks and answers how many of the failures listeners were told of.
int told_of(stage& here, int count) {
  auto& rt = here.runtime();
  auto ctx = rt.device(0).value().create_context().value();
  auto s = ctx.create_stream().value();
  int told = 0;
  const auto number = rt.add_failure_listener([&told](const error_record&) { ++told; }).value();
  for (int i = 0; i < count; ++i) {
    s.launch("fails", [] { throw std::runtime_error("no"); }).or_throw();
    EXPECT_FALSE(s.synchronize().ok());
  }
  here.pass_time(1ms);
  EXPECT_THAT(rt.remove_failure_listener(number, true), IsOk());
  return told;
}

TEST(dead_keepers, a_notifier_that_died_is_replaced_and_the_next_failure_told) {
  play_under(at_message("task_failed", fault_action::kill_actor()), 1,
             [](stage& here) { EXPECT_EQ(told_of(here, 3), 2); });
}

TEST(lost_notices, of_failures_take_no_place_among_those_that_wait) {
  play_under(at_message("task_failed", fault_action::drop()), 1'100,
             [](stage& here) { EXPECT_EQ(told_of(here, 1'110), 10); });
}

TEST(lost_notices, of_failures_that_come_twice_are_told_once) {
  play_under(at_message("task_failed", fault_action::duplicate()), 5,
             [](stage& here) { EXPECT_EQ(told_of(here, 20), 20); });
}

TEST(lost_frees, give_the_memory_back_all_the_same) {
  for (const auto& action : {fault_action::drop(), fault_action::restart_actor()}) {
    play_under(at_message("free_block", action), 2, [](stage& here) {
      auto& rt = here.runtime();
      auto dev = rt.device(0).value();
      auto ctx = dev.create_context().value();
      { const auto pinned = rt.allocate_host<int>(64).value(); }
      { const auto block = ctx.allocate<int>(64).value(); }
      EXPECT_EQ(rt.host_memory().value().used, 0U);
      EXPECT_EQ(dev.memory().value().used, 0U);
      EXPECT_THAT(ctx.allocate<int>(64), IsOk());
    });
  }
}

} // namespace
} // namespace troupe
