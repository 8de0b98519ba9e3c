// A device aborted, reset and lost under those who use it, live and in any order of events; what needs
// a plan of faults is simulated to the nanosecond in tests/simulation, and here befalls real threads.

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tests/behaviour/side_thread.hpp"
#include "tests/support/plan_in_force.hpp"
#include "tests/support/reset_storm.hpp"
#include "tests/support/stage.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

class outages : public stage_test {
protected:
  outages() : stage_test(patient_options()) {}
};

TEST_F(outages, G5_of_16_threads_that_meet_aborts_and_resets_each_request_has_one_reply) {
  reset_storm storm(rt);
  EXPECT_NO_THROW(storm.run(16, 6));
  EXPECT_GT(storm.succeeded(), 0U);
}

TEST_F(outages, G5_a_failure_listener_that_asks_the_device_and_an_abort_of_it_both_return) {
  std::atomic<int> asked = 0;
  const auto number = rt.add_failure_listener([&](const error_record&) {
    (void)dev.memory();
    (void)dev.health();
    ++asked;
  });
  ASSERT_THAT(number, IsOk());
  for (int round = 0; round < 10; ++round) {
    ASSERT_THAT(s.launch("fails", [] { throw error(code::kernel_timeout, "made to"); }), IsOk());
    side_thread aborts([&] { return dev.abort(); });
    EXPECT_THAT(aborts.join(), IsOk());
    (void)s.synchronize(); // the failure, or the abort that came before it
  }
  ASSERT_THAT(s.launch("fails", [] { throw error(code::kernel_timeout, "made to"); }), IsOk());
  EXPECT_THAT(s.synchronize(), HasCode(code::kernel_timeout));
  await([&] { return asked >= 1; });
  EXPECT_THAT(rt.remove_failure_listener(number.value(), true), IsOk());
}

TEST_F(outages, G3_an_abort_calls_its_hooks_in_order_and_refuses_who_submits_meanwhile) {
  std::vector<std::string> log;
  const auto hook = [&](const std::string& name) {
    return [&, name](abort_phase phase) {
      log.push_back((phase == abort_phase::before ? "before " : "after ") + name);
      EXPECT_EQ(dev.health(), device_health::aborting);
    };
  };
  ASSERT_THAT(dev.set_abort_hook("a", hook("a")), IsOk());
  ASSERT_THAT(dev.set_abort_hook("b", hook("b")), IsOk());
  EXPECT_THAT(dev.set_abort_hook("a", hook("a")), HasCode(code::invalid_parameter));
  ASSERT_THAT(dev.set_abort_hook("c", [&](abort_phase phase) {
    if (phase == abort_phase::before) return; // who submits now is dropped
    side_thread racer([&] { return s.launch("late", [] {}); });
    EXPECT_THAT(racer.join(), HasCode(code::device_task_abort));
  }), IsOk());
  auto held = rt.create_signal();
  bool ran = false;
  ASSERT_THAT(s.wait(held), IsOk());
  ASSERT_THAT(s.launch("dropped", [&] { ran = true; }), IsOk());
  side_thread waiter([&] { return s.synchronize(); });
  ASSERT_TRUE(waiter.waits_for(s));
  EXPECT_THAT(dev.abort(), IsOk());
  // As long as the abort goes on 107022, and of its stream from then on.
  const auto told = waiter.join().code();
  EXPECT_TRUE(told == code::device_task_abort || told == code::stream_abort);
  EXPECT_EQ(log, (std::vector<std::string>{"before a", "before b", "after a", "after b"}));
  EXPECT_FALSE(ran);
  EXPECT_EQ(dev.health(), device_health::usable);
  EXPECT_THAT(s.launch("work", [&] { ran = true; }), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_TRUE(ran);
}

// -- live, under a plan -----------------------------------------------------------

TEST(live_outages, G3_a_memory_fault_is_told_its_device_aborted_repaired_and_used_again) {
  LIVE_ONLY("a live run under a plan");
  const plan_in_force plan(R"({"entries": [{"name": "the fault",
      "pick": {"point": "execute", "operation": "bad"},
      "action": {"kind": "corrupt", "detected": true}}]})");
  runtime rt(patient_options(1));
  auto dev = rt.device(0).value();
  auto ctx = dev.create_context().value();
  auto s = ctx.create_stream().value();
  auto data = ctx.allocate<int>(100).value();
  const auto set = [](std::span<int> all, int value) {
    for (auto& each : all) each = value;
  };
  ASSERT_THAT(s.launch("bad", set, data, 1), IsOk());
  EXPECT_THAT(s.synchronize(), HasCode(code::hbm_multi_bit_ecc));
  EXPECT_EQ(dev.health(), device_health::faulted);
  EXPECT_EQ(dev.fault().value().failure.record()->task_name, "bad");
  EXPECT_THAT(dev.repair(), HasCode(code::invalid_parameter)); // not before the abort
  EXPECT_THAT(dev.abort(), IsOk());
  EXPECT_THAT(s.launch("work", [] {}), HasCode(code::device_task_abort));
  EXPECT_THAT(dev.repair(), IsOk());
  std::vector<int> out(100);
  EXPECT_THAT(s.launch("work", set, data, 7), IsOk());
  EXPECT_THAT(s.copy(std::span(out), data), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(out, std::vector<int>(100, 7));
}

TEST(live_outages, G6_a_destroy_that_got_lost_fails_leaves_all_in_place_and_succeeds_again) {
  LIVE_ONLY("a live run under a plan");
  for (const std::string lost : {"close_stream", "destroy_context"}) {
    const plan_in_force plan(R"({"entries": [{"name": "the fault",
        "pick": {"point": "message", "message": ")" + lost + R"("},
        "action": {"kind": "drop"}}]})");
    auto options = patient_options(1);
    options.control_timeout_ms = 200;
    runtime rt(options);
    auto dev = rt.device(0).value();
    auto ctx = dev.create_context().value();
    auto s = ctx.create_stream().value();
    const auto end = [&] { return lost == "close_stream" ? s.destroy() : ctx.destroy(); };
    const auto before = dev.counters().streams;
    const auto failed = end();
    ASSERT_TRUE(failed.record()) << lost;
    EXPECT_EQ(failed.record()->plan_entry, "the fault") << failed.describe();
    EXPECT_EQ(dev.counters().streams, before) << lost;
    EXPECT_THAT(s.launch("work", [] {}), IsOk()) << lost;
    EXPECT_THAT(s.synchronize(), IsOk()) << lost;
    status again; // on a machine that is slow it may come late as well
    await([&] { return (again = end()).code() != code::wait_timeout; });
    EXPECT_FALSE(end().ok()) << lost; // no double release
    (void)ctx.destroy();
    await([&] { return dev.counters().streams == 0; });
  }
}

TEST(live_outages, G7_a_slow_first_set_device_is_seen_to_be_starting_and_then_ready) {
  LIVE_ONLY("a live run under a plan");
  const plan_in_force plan(R"({"entries": [
      {"pick": {"point": "message", "message": "retain_primary"},
       "action": {"kind": "delay", "ms": 100}}]})");
  runtime rt(patient_options(1));
  EXPECT_EQ(rt.health(0).value(), device_health::unused);
  side_thread slow([&] {
    const auto s = rt.set_device(0);
    current::unbind();
    return s;
  });
  await([&] { return rt.health(0).value() != device_health::unused; });
  EXPECT_TRUE(rt.health(0).value() == device_health::starting || slow.ended());
  EXPECT_THAT(slow.join(), IsOk());
  EXPECT_EQ(rt.health(0).value(), device_health::usable);
  EXPECT_THAT(rt.reset_device(0), IsOk());
}

} // namespace
} // namespace troupe
