// Faults in simulated runs, one by one: when they strike, what they leave alone, and how what was
// lost is found again.

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/sanitizers.hpp"
#include "tests/support/simulated.hpp"
#include "tests/support/status_matchers.hpp"
#include "troupe/testing.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

using testing::simulate;
using testing::simulation_options;
using testing::stage;
using namespace std::chrono_literals;

fault_entry lost_message(std::string kind) {
  auto made = fault_at(fault_point::message, fault_action::drop());
  made.pick.message = std::move(kind);
  return made;
}

simulation_options with(fault_entry one) {
  simulation_options made;
  made.faults.emplace();
  made.faults->entries = {std::move(one)};
  made.costs.kernels["work"] = 1'000'000;
  made.costs.kernels["never"] = cost_model::never;
  return made;
}

TEST(fault_effects, a_late_beginning_and_one_held_until_a_time_of_the_runtime) {
  for (const auto& each : {std::pair{fault_action::delay(20), 31ms},
                           std::pair{fault_action::hold_until(50), 51ms}}) {
    const auto options = with(fault_at(fault_point::execute, each.first));
    const auto report = simulate(options, [&](stage& play) {
      auto ctx = make_context(play);
      play.pass_time(10ms);
      ctx.default_stream().value().launch("work", [] {}).or_throw();
      EXPECT_THAT(ctx.synchronize(), IsOk());
      EXPECT_EQ(play.elapsed(), each.second) << describe(each.first);
    });
    EXPECT_EQ(report.faults.fired, 1U);
  }
}

TEST(fault_effects, an_ordinal_with_a_channel_is_the_number_on_that_channel) {
  const struct {
    fault_point point;
    fault_action action;
    const char* channel;
  } rows[] = {{fault_point::submit, fault_action::drop(), "client>stream 4"},
              {fault_point::execute, fault_action::fail_at_execution(),
               "stream 4>compute of device 0"},
              {fault_point::complete, fault_action::duplicate(), "engine>stream 4"}};
  for (const auto& row : rows) {
    auto second = fault_at(row.point, row.action);
    second.pick.channel = row.channel;
    second.pick.ordinal = 2;
    const auto report = simulate(with(second), [](stage& play) {
      auto ctx = make_context(play);
      auto other = ctx.create_stream().value();
      auto s = ctx.create_stream().value();
      ASSERT_EQ(s.id(), 4U);
      for (int i = 0; i < 3; ++i) {
        other.launch("work", [] {}).or_throw();
        s.launch("work", [] {}).or_throw();
      }
      (void)ctx.synchronize();
    });
    ASSERT_EQ(report.faults.fired, 1U) << row.channel;
    EXPECT_EQ(report.faults.activations.front().victim.ordinal, 2U);
    EXPECT_EQ(report.faults.activations.front().victim.stream, 4U);
  }
}

// Times of a plan count from when its runtime began, not from when the run did.
TEST(fault_effects, a_window_counts_from_the_beginning_of_the_runtime) {
  auto failing = fault_at(fault_point::execute, fault_action::fail_at_execution());
  failing.pick.from_ms = 5;
  failing.pick.until_ms = 15;
  failing.pick.times = 0;
  const auto options = with(failing);
  auto no_faults = options;
  no_faults.faults.reset();
  (void)simulate(no_faults, [&](stage& play) {
    play.pass_time(100ms);
    auto rt = play.make_runtime(options.runtime, options.faults);
    auto ctx = rt.device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    std::vector<bool> failed;
    for (int i = 0; i < 3; ++i) { // at 0, 10 and 20 ms
      s.launch("work", [] {}).or_throw();
      failed.push_back(!s.synchronize().ok());
      play.pass_time(9ms);
    }
    EXPECT_EQ(failed, (std::vector<bool>{false, true, false}));
  });
}

TEST(fault_effects, flipped_bits_are_in_what_a_task_writes) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto options = with(fault_at(fault_point::execute, fault_action::corrupt(2, false)));
    options.faults->seed = seed;
    const auto report = simulate(options, [](stage& play) {
      auto ctx = make_context(play);
      auto s = ctx.create_stream().value();
      const auto in = ctx.allocate<char>(64, initial::cleared).value();
      const auto out = ctx.allocate<char>(64, initial::cleared).value();
      const auto reads_and_writes = [](std::span<const char>, std::span<char>) {};
      s.launch("work", reads_and_writes, in, out).or_throw();
      EXPECT_THAT(s.synchronize(), IsOk());
      EXPECT_EQ(std::count(in.data(), in.data() + 64, 0), 64);
      EXPECT_EQ(std::count(out.data(), out.data() + 64, 0), 62);
    });
    EXPECT_EQ(report.faults.fired, 1U);
  }
}

// Also where it yields to another one half-way and begins anew.
TEST(fault_effects, a_copy_of_many_chunks_is_struck_once) {
  auto slow = fault_at(fault_point::execute, fault_action::slow(2));
  slow.pick.times = 0;
  auto options = with(slow);
  options.runtime.copy_chunk_kib = 4;
  const auto report = simulate(options, [](stage& play) {
    auto ctx = make_context(play);
    auto low = ctx.create_stream({.priority = 7, .queue_depth = 0}).value();
    auto high = ctx.create_stream({.priority = 0, .queue_depth = 0}).value();
    const auto target = ctx.allocate<char>(64 * 1024).value();
    const auto other = ctx.allocate<char>(16).value();
    const auto source = play.runtime().allocate_host<char>(64 * 1024).value();
    const auto small = play.runtime().allocate_host<char>(16).value();
    low.copy(target, source).or_throw();
    play.pass_time(3us); // into the copy
    high.copy(other, small).or_throw();
    EXPECT_THAT(high.synchronize(), IsOk());
    EXPECT_FALSE(low.query().value()) << "it was overtaken";
    EXPECT_THAT(ctx.synchronize(), IsOk());
  });
  EXPECT_EQ(report.faults.fired, 2U);
}

TEST(fault_effects, memory_is_refused_to_the_context_that_the_plan_names) {
  auto refused = fault_at(fault_point::allocate, fault_action::refuse_allocation());
  refused.pick.times = 0;
  refused.pick.context = 3; // the second: ids count contexts and streams
  (void)simulate(with(refused), [](stage& play) {
    const auto first = make_context(play);
    const auto second = make_context(play);
    ASSERT_EQ(second.id(), 3U);
    EXPECT_THAT(first.allocate<int>(16), IsOk());
    EXPECT_THAT(second.allocate<int>(16), HasCode(code::device_out_of_memory));
  });
}

TEST(fault_effects, the_messages_by_which_actors_end_always_arrive) {
  if (sanitized) GTEST_SKIP() << "a context that is not told of its end leaks, as it must";
  auto all = fault_at(fault_point::message, fault_action::drop());
  all.pick.times = 0;
  all.pick.from_ms = 1; // from the end on
  auto options = with(all);
  options.oracles_off = {"accounts", "survivors"}; // a context is not told that it ends
  const auto report = simulate(options, [](stage& play) {
    const auto ctx = make_context(play);
    play.pass_time(1ms);
    EXPECT_THAT(play.runtime().shutdown(), IsOk());
  });
  EXPECT_FALSE(report.hang);
  EXPECT_GT(report.faults.fired, 0U);
  for (const auto& each : report.faults.activations) {
    EXPECT_NE(each.victim.message, "caf_message");
  }
}

TEST(fault_effects, a_doubled_message_arrives_twice) {
  auto doubled = fault_at(fault_point::message, fault_action::duplicate());
  doubled.pick.message = "abort_stream";
  auto options = with(doubled);
  options.keep_trace = true;
  const auto report = simulate(options, [](stage& play) {
    const auto ctx = make_context(play);
    auto s = ctx.create_stream().value();
    EXPECT_THAT(s.abort(), IsOk());
    play.pass_time(1ms);
  });
  const auto handles = [](const std::string& line) {
    return line.find("abort_stream") != std::string::npos;
  };
  EXPECT_EQ(std::count_if(report.trace.begin(), report.trace.end(), handles), 2);
}

// -- what was lost is found at the next look, every half a second -------------------

TEST(fault_effects, a_lost_expiry_is_found) {
  const auto report = simulate(with(lost_message("wait_expired")), [](stage& play) {
    const auto ctx = make_context(play);
    auto s = ctx.create_stream().value();
    s.wait(play.runtime().create_signal(), 5ms).or_throw();
    EXPECT_THAT(s.synchronize(), HasCode(code::task_timeout));
    EXPECT_EQ(play.elapsed(), 500ms);
  });
  EXPECT_FALSE(report.hang);
  EXPECT_EQ(report.faults.fired, 1U);
}

TEST(fault_effects, a_lost_end_of_an_aborts_bound_is_found) {
  auto options = with(lost_message("abort_overdue"));
  options.runtime.stop_bound_ms = 300;
  const auto report = simulate(options, [](stage& play) {
    const auto ctx = make_context(play);
    auto s = ctx.create_stream().value();
    s.launch("never", [] {}).or_throw();
    play.pass_time(1ms);
    EXPECT_THAT(s.abort(), IsOk());
    s.launch("work", [] {}).or_throw();
    EXPECT_THAT(s.synchronize(), IsOk());
    EXPECT_EQ(play.elapsed(), 501ms);
  });
  EXPECT_FALSE(report.hang);
  EXPECT_EQ(report.faults.fired, 1U);
}

TEST(fault_effects, lost_doorbells_and_ends_of_work_are_found_one_after_another) {
  for (const auto* kind : {"doorbell", "work_due"}) {
    auto twice = lost_message(kind);
    twice.pick.times = 2;
    const auto report = simulate(with(twice), [&](stage& play) {
      auto ctx = make_context(play);
      for (int i = 0; i < 2; ++i) {
        ctx.create_stream().value().launch("work", [] {}).or_throw();
        EXPECT_THAT(ctx.synchronize(), IsOk());
      }
      EXPECT_LE(play.elapsed(), 1002ms) << kind;
    });
    EXPECT_FALSE(report.hang) << kind;
    EXPECT_EQ(report.faults.fired, 2U) << kind;
  }
}

} // namespace
} // namespace troupe
