// Memory faults, the device-wide abort and the repair; keepers that die; slow starts.

#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tests/support/simulated.hpp"
#include "tests/support/status_matchers.hpp"
#include "troupe/exploring.hpp"
#include "troupe/testing.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

using testing::simulation_options;
using testing::stage;
using namespace std::chrono_literals;

// The memory that task "bad" writes has flipped bits, which is noticed.
simulation_options with_bad_memory() {
  auto made = under(fault_at(fault_point::execute, fault_action::corrupt(1, true)));
  made.faults->entries[0].pick.operation = "bad";
  return made;
}

void fill(std::span<int> all, int value) {
  for (auto& each : all) each = value;
}

// -- G3 ---------------------------------------------------------------------------

TEST(device_abort, G3_a_memory_fault_is_told_in_detail_aborted_with_hooks_repaired_and_over) {
  play_out(with_bad_memory(), [](stage& here) {
    auto dev = here.runtime().device(0).value();
    auto ctx = dev.create_context().value();
    auto other = dev.create_context().value();
    auto s = ctx.create_stream().value();
    auto elsewhere = other.create_stream().value();
    auto data = ctx.allocate<int>(100).value();
    EXPECT_EQ(dev.health(), device_health::usable);
    EXPECT_FALSE(dev.fault());
    s.launch("bad", fill, data, 1).or_throw();
    EXPECT_THAT(s.synchronize(), HasCode(code::hbm_multi_bit_ecc));

    EXPECT_EQ(dev.health(), device_health::faulted);
    const auto fault = dev.fault().value();
    EXPECT_THAT(fault.failure, HasCode(code::hbm_multi_bit_ecc));
    EXPECT_EQ(fault.failure.record()->task_name, "bad");
    EXPECT_EQ(fault.failure.record()->plan_entry, "the fault");
    ASSERT_EQ(fault.parts.size(), 1U);
    EXPECT_EQ(fault.parts[0].bytes, 400U);
    EXPECT_THAT(elsewhere.launch("work", [] {}), HasCode(code::hbm_multi_bit_ecc));
    EXPECT_THAT(dev.create_context(), HasCode(code::hbm_multi_bit_ecc));
    EXPECT_THAT(dev.repair(), HasCode(code::invalid_parameter)); // not before the abort

    std::vector<std::string> log;
    const auto hook = [&log, &dev](const std::string& name) {
      return [&log, &dev, name](abort_phase phase) {
        EXPECT_EQ(dev.health(), device_health::aborting);
        EXPECT_THAT(dev.abort(), HasCode(code::device_task_abort));
        log.push_back((phase == abort_phase::before ? "before " : "after ") + name);
      };
    };
    EXPECT_THAT(dev.set_abort_hook("a", hook("a")), IsOk());
    EXPECT_THAT(dev.set_abort_hook("b", hook("b")), IsOk());
    EXPECT_THAT(dev.set_abort_hook("a", hook("again")), HasCode(code::invalid_parameter));
    EXPECT_THAT(dev.abort(1s), IsOk());
    EXPECT_EQ(log, (std::vector<std::string>{"before a", "before b", "after a", "after b"}));
    EXPECT_EQ(dev.health(), device_health::aborted);
    EXPECT_THAT(s.launch("work", [] {}), HasCode(code::device_task_abort));
    EXPECT_THAT(dev.create_context(), HasCode(code::device_task_abort));
    EXPECT_THAT(dev.abort(), HasCode(code::device_task_abort));

    EXPECT_THAT(dev.repair(), IsOk());
    EXPECT_EQ(dev.health(), device_health::usable);
    EXPECT_FALSE(dev.fault());
    std::vector<int> out(100);
    EXPECT_THAT(s.launch("work", fill, data, 7), IsOk());
    EXPECT_THAT(s.copy(std::span(out), data), IsOk());
    EXPECT_THAT(s.synchronize(), IsOk());
    EXPECT_EQ(out, std::vector<int>(100, 7));
    EXPECT_THAT(elsewhere.launch("work", [] {}), IsOk());
    EXPECT_THAT(elsewhere.synchronize(), IsOk());

    EXPECT_THAT(dev.set_abort_hook("a", nullptr), IsOk());
    EXPECT_THAT(dev.set_abort_hook("a", nullptr), HasCode(code::invalid_parameter));
    EXPECT_THAT(dev.abort(), IsOk());
    EXPECT_EQ(log.size(), 6U); // of b alone
  });
}

TEST(device_abort, G3_lets_all_waiters_go_refuses_who_submits_meanwhile_and_needs_no_repair) {
  simulation_options options;
  options.costs.kernels["stuck"] = cost_model::never;
  options.costs.kernels["work"] = 1'000'000;
  options.runtime.stop_bound_ms = 100;
  play_out(options, [](stage& here) {
    auto dev = here.runtime().device(0).value();
    auto ctx = dev.create_context().value();
    auto far = here.runtime().device(1).value().create_context().value();
    auto s = ctx.create_stream().value();
    auto spared = far.create_stream().value();
    s.launch("stuck", [] {}).or_throw();
    spared.launch("work", [] {}).or_throw();
    auto waiter = here.start_client("waiter", [&] {
      EXPECT_THAT(s.synchronize(), HasCode(code::device_task_abort));
    });
    auto racer = here.start_client("racer", [&] {
      here.pass_time(50ms);
      EXPECT_EQ(dev.health(), device_health::aborting);
      EXPECT_THAT(s.launch("work", [] {}), HasCode(code::device_task_abort));
    });
    here.pass_time(1ms);
    EXPECT_THAT(dev.abort(20ms), HasCode(code::wait_timeout)); // the task has 100 ms to stop
    EXPECT_EQ(here.elapsed(), 21ms);
    EXPECT_EQ(dev.health(), device_health::usable);
    here.pass_time(20ms);
    EXPECT_THAT(dev.abort(), IsOk());
    EXPECT_EQ(here.elapsed(), 101ms);
    waiter.join();
    racer.join();
    EXPECT_EQ(dev.health(), device_health::usable);
    EXPECT_THAT(s.launch("work", [] {}), IsOk());
    EXPECT_THAT(s.synchronize(), IsOk());
    EXPECT_THAT(spared.synchronize(), IsOk());
    EXPECT_THAT(dev.abort(0ms), HasCode(code::invalid_parameter));
  });
}

TEST(device_abort, G5_no_late_part_of_an_abort_drops_what_comes_after_it) {
  testing::exploration_options options;
  options.runs = 100;
  const auto found = testing::explore(options, [](stage& here) {
    auto dev = here.runtime().device(0).value();
    auto ctx = dev.create_context().value();
    auto s = ctx.create_stream().value();
    bool ran = false;
    dev.abort().or_throw();
    s.launch("after", [&ran] { ran = true; }).or_throw();
    s.synchronize().or_throw();
    if (!ran) throw std::runtime_error("it was dropped");
  });
  EXPECT_FALSE(found.failure) << found.describe();
}

TEST(device_abort, G3_a_hook_that_throws_is_told_and_holds_nothing_up) {
  play_out({}, [](stage& here) {
    auto dev = here.runtime().device(0).value();
    auto s = dev.create_context().value().create_stream().value();
    dev.set_abort_hook("bad", [](abort_phase) { throw std::runtime_error("no"); }).or_throw();
    EXPECT_THAT(dev.abort(), SaysThat("bad"));
    EXPECT_EQ(dev.health(), device_health::usable);
    for (std::size_t i = 1; i < 64; ++i) {
      dev.set_abort_hook(std::to_string(i), [](abort_phase) {}).or_throw();
    }
    const auto over = dev.set_abort_hook("one more", [](abort_phase) {});
    EXPECT_THAT(over, HasCode(code::over_limit));
    EXPECT_EQ(over.record()->lacking->resource, "abort hooks");
  });
}

TEST(device_abort, F4_a_reset_ends_a_memory_fault_as_well) {
  play_out(with_bad_memory(), [](stage& here) {
    auto dev = here.runtime().device(0).value();
    auto ctx = dev.create_context().value();
    auto s = ctx.create_stream().value();
    auto data = ctx.allocate<int>(100).value();
    s.launch("bad", fill, data, 1).or_throw();
    EXPECT_THAT(s.synchronize(), HasCode(code::hbm_multi_bit_ecc));
    EXPECT_THAT(s.destroy(), IsOk());
    EXPECT_THAT(dev.reset(), IsOk());
    EXPECT_EQ(dev.health(), device_health::usable);
    auto again = dev.create_context().value();
    auto fresh = again.create_stream().value();
    EXPECT_THAT(fresh.launch("work", [] {}), IsOk());
    EXPECT_THAT(fresh.synchronize(), IsOk());
  });
}

// -- G4: a keeper dies ----------------------------------------------------------

class keeper_dies_at : public ::testing::TestWithParam<const char*> {};

TEST_P(keeper_dies_at, G4_the_device_is_lost_until_a_reset_has_others_take_their_place) {
  auto entry = fault_at(fault_point::message, fault_action::kill_actor());
  entry.pick.message = GetParam();
  const auto report = play_out(under(entry), [](stage& here) {
    auto dev = here.runtime().device(0).value();
    auto ctx = dev.create_context();
    auto s = ctx ? ctx.value().create_stream() : result<stream>(ctx.error());
    const auto data = ctx ? ctx.value().allocate<int>(8) : result<buffer<int>>(ctx.error());
    if (s) (void)s.value().launch("work", [] {});
    (void)here.runtime().set_device(0);
    here.pass_time(1ms);
    EXPECT_EQ(dev.health(), device_health::lost);
    const auto why = dev.create_context().error();
    EXPECT_THAT(why, HasCode(code::lost_heartbeat));
    EXPECT_EQ(why.record()->plan_entry, "the fault");
    EXPECT_THAT(dev.memory(), HasCode(code::lost_heartbeat));
    EXPECT_THAT(here.runtime().set_device(0), HasCode(code::lost_heartbeat));
    if (s) {
      EXPECT_THAT(s.value().synchronize(), HasCode(code::lost_heartbeat));
    }
    current::unbind();
    auto near = here.runtime().device(1).value().create_context().value();
    EXPECT_THAT(near.allocate<int>(8), IsOk());
    EXPECT_THAT(dev.reset(), IsOk());
    EXPECT_EQ(dev.memory().value().used, 0U);
    EXPECT_EQ(dev.counters().streams, 0U);
    auto fresh = dev.create_context().value();
    EXPECT_THAT(fresh.allocate<int>(8), IsOk());
    EXPECT_THAT(here.runtime().set_device(0), IsOk());
    current::unbind();
    EXPECT_THAT(here.runtime().reset_device(0), IsOk());
  });
  EXPECT_EQ(report.faults.fired, 1U);
}

INSTANTIATE_TEST_SUITE_P(each_keeper, keeper_dies_at,
                         ::testing::Values("create_context", "retain_primary", "allocate_block"));

// -- G6, G7 -----------------------------------------------------------------------

TEST(half_way, G6_a_destroy_that_got_lost_fails_leaves_all_in_place_and_succeeds_again) {
  for (const auto* message : {"close_stream", "destroy_context", "release_primary"}) {
    auto entry = fault_at(fault_point::message, fault_action::drop());
    entry.pick.message = message;
    play_out(under(entry), [message](stage& here) {
      auto& rt = here.runtime();
      auto dev = rt.device(0).value();
      auto ctx = dev.create_context().value();
      auto s = ctx.create_stream().value();
      rt.set_device(0).or_throw();
      current::unbind();
      const std::string lost = message;
      const auto end = [&] {
        return lost == "close_stream"      ? s.destroy()
               : lost == "destroy_context" ? ctx.destroy()
                                           : rt.reset_device(0);
      };
      const auto before = dev.counters().streams;
      const auto failed = end();
      EXPECT_FALSE(failed.ok());
      ASSERT_TRUE(failed.record());
      EXPECT_EQ(failed.record()->plan_entry, "the fault") << failed.describe();
      EXPECT_EQ(dev.counters().streams, before) << message;
      EXPECT_THAT(s.launch("work", [] {}), IsOk()) << message;
      EXPECT_THAT(s.synchronize(), IsOk()) << message;
      EXPECT_THAT(end(), IsOk()) << message;
      EXPECT_FALSE(end().ok()) << message; // no double release
      (void)ctx.destroy();
      (void)rt.reset_device(0);
      here.pass_time(1ms);
      EXPECT_EQ(dev.counters().streams, 0U) << message;
    });
  }
}

TEST(slow_start, G7_a_first_set_device_of_8_s_is_seen_to_be_starting_and_then_ready) {
  auto first = fault_at(fault_point::message, fault_action::delay(8'000));
  first.pick.message = "retain_primary";
  auto later = fault_at(fault_point::message, fault_action::delay(5));
  later.pick.message = "retain_primary";
  later.pick.times = 0;
  auto options = under(first);
  options.faults->entries.push_back(later);
  options.runtime.control_timeout_ms = 20'000;
  play_out(options, [](stage& here) {
    auto& rt = here.runtime();
    EXPECT_EQ(rt.health(0).value(), device_health::unused);
    EXPECT_THAT(rt.health(99), HasCode(code::invalid_device));
    auto watchdog = here.start_client("watchdog", [&] {
      for (int i = 0; i < 2; ++i) {
        here.pass_time(3s);
        EXPECT_EQ(rt.health(0).value(), device_health::starting);
      }
      here.pass_time(3s);
      EXPECT_EQ(rt.health(0).value(), device_health::usable);
    });
    EXPECT_THAT(rt.set_device(0), IsOk());
    EXPECT_EQ(here.elapsed(), 8s);
    EXPECT_THAT(rt.set_device(0), IsOk());
    EXPECT_EQ(here.elapsed(), 8s + 5ms);
    watchdog.join();
    current::unbind();
    rt.reset_device(0).or_throw();
    rt.reset_device(0).or_throw();
  });
}

} // namespace
} // namespace troupe
