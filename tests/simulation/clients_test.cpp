// Clients, stages and runtimes: who lives for how long, and who may call what.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/status_matchers.hpp"
#include "troupe/testing.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

using testing::simulation_options;
using testing::stage;
using testing::try_simulate;
using namespace std::chrono_literals;

context context_of(stage& play) {
  return play.runtime().device(0).value().create_context().value();
}

TEST(clients, L10_stage_and_runtime_live_until_the_last_client_has_ended) {
  status made = make_status(code::internal_error, "the client did not run");
  const auto report = try_simulate({}, [&made](stage& play) {
    (void)play.start_client("late", [&play, &made] {
      play.pass_time(1s);
      made = play.runtime().device(0).value().create_context().error();
    });
  });
  EXPECT_FALSE(report.thrown);
  EXPECT_THAT(made, IsOk());
  EXPECT_EQ(report.elapsed, 1s);
}

TEST(clients, L10_the_runtime_may_be_moved_out) {
  simulation_options options;
  options.faults.emplace();
  const auto report = try_simulate(options, [](stage& play) {
    auto mine = std::move(play.runtime());
    EXPECT_TRUE(mine.device(0).ok());
  });
  EXPECT_FALSE(report.thrown);
  EXPECT_TRUE(report.violations.empty());
}

TEST(clients, L10_a_runtime_that_outlives_its_run_has_been_shut_down) {
  std::optional<runtime> kept;
  std::optional<runtime> unused;
  std::optional<context> ctx;
  const auto report = try_simulate({}, [&](stage& play) {
    unused.emplace(play.make_runtime({}));
    kept.emplace(play.make_runtime({}));
    ctx = kept->device(0).value().create_context().value();
  });
  EXPECT_FALSE(report.thrown);
  EXPECT_THAT(ctx->create_stream(), HasCode(code::uninitialized));
  EXPECT_THAT(unused->device(0), HasCode(code::uninitialized));
  ctx.reset();
  kept.reset();
}

TEST(clients, L10_join_after_the_run_is_nothing) {
  std::optional<testing::client> kept;
  (void)try_simulate({}, [&kept](stage& play) { kept = play.start_client("w", [] {}); });
  EXPECT_NO_THROW(kept->join());
}

TEST(clients, H3_what_waits_or_makes_is_refused_inside_kernels_and_callbacks) {
  std::optional<testing::client> other;
  using use = std::function<void(stage&)>;
  const std::vector<use> uses = {
      [](stage& play) { play.pass_time(1ms); },
      [](stage& play) { play.wait_until([] { return true; }); },
      [](stage& play) { (void)play.start_client("x", [] {}); },
      [](stage& play) { (void)play.make_runtime({}); },
      [&other](stage&) { other->join(); },
  };
  for (const auto& each : uses) {
    const auto report = try_simulate({}, [&](stage& play) {
      other = play.start_client("other", [] {});
      const auto ctx = context_of(play);
      auto s = ctx.create_stream().value();
      int refused = 0;
      const auto attempt = [&] {
        try {
          each(play);
        } catch (const error& e) {
          refused += e.code() == code::not_supported ? 1 : 0;
        }
      };
      s.callback("callback", attempt).or_throw();
      s.launch("kernel", attempt).or_throw();
      s.launch("next", [] {}).or_throw();
      EXPECT_THAT(s.synchronize(), IsOk());
      EXPECT_EQ(refused, 2) << "use " << &each - uses.data();
    });
    EXPECT_FALSE(report.hang);
  }
}

TEST(clients, L10_other_threads_are_refused) {
  std::size_t refused = 0;
  std::vector<std::function<void()>> uses;
  (void)try_simulate({}, [&](stage& play) {
    const auto ctx = context_of(play);
    auto s = ctx.create_stream().value();
    auto pending = ctx.create_stream().value();
    pending.wait(play.runtime().create_signal()).or_throw();
    uses = {
        [&] { (void)s.launch("k", [] {}); }, [&] { (void)s.synchronize(); },
        [&] { (void)s.query(); },            [&] { (void)pending.query(); },
        [&] { (void)s.counters(); },         [&] { (void)ctx.health(); },
        [&] { (void)play.elapsed(); },       [&] { play.observe("x", std::span<const int>()); },
        [&] { play.pass_time(1ms); },        [&] { (void)play.start_client("x", [] {}); },
        [&] { (void)play.make_runtime({}); },
    };
    std::thread([&] {
      for (const auto& each : uses) {
        try {
          each();
          ADD_FAILURE() << "use " << &each - uses.data();
        } catch (const std::logic_error&) {
          ++refused;
        }
      }
    }).join();
  });
  EXPECT_EQ(refused, uses.size());
}

// -- what is not the body's -------------------------------------------------------

TEST(clients, L12_what_the_check_of_devices_takes_is_not_the_bodys) {
  const auto run = [](bool with_plan) {
    simulation_options options;
    if (with_plan) options.faults.emplace();
    return try_simulate(options, [](stage& play) {
      const auto ctx = context_of(play);
      auto s = ctx.create_stream().value();
      s.launch("k", [] {}).or_throw();
      s.synchronize().or_throw();
    });
  };
  const auto plain = run(false);
  const auto checked = run(true);
  EXPECT_EQ(checked.elapsed, plain.elapsed);
  EXPECT_LT(checked.steps, plain.steps + 20) << "the check alone takes 40";
}

TEST(clients, L12_memory_that_work_without_end_may_still_touch_is_no_leak) {
  simulation_options options;
  options.costs.kernels["stuck"] = cost_model::never;
  const auto report = try_simulate(options, [](stage& play) {
    const auto ctx = context_of(play);
    auto s = ctx.create_stream().value();
    const auto block = ctx.allocate<int>(256).value();
    s.launch("stuck", [](std::span<int>) {}, block).or_throw();
    play.pass_time(1ms);
  });
  ASSERT_FALSE(report.thrown);
  EXPECT_TRUE(report.violations.empty()) << describe(report.violations.front());
}

TEST(clients, L12_a_late_message_that_gives_memory_back_is_no_leak) {
  for (std::uint64_t ordinal = 1; ordinal < 20; ++ordinal) {
    simulation_options options;
    auto& entry = options.faults.emplace().entries.emplace_back();
    entry.pick.point = fault_point::message;
    entry.pick.ordinal = ordinal;
    entry.action = fault_action::delay(1);
    const auto report = try_simulate(options, [](stage& play) {
      const auto ctx = context_of(play);
      const auto block = ctx.allocate<int>(256).value();
      ctx.destroy().or_throw();
    });
    ASSERT_FALSE(report.thrown);
    EXPECT_TRUE(report.violations.empty())
        << "ordinal " << ordinal << ": " << describe(report.violations.front());
  }
}

} // namespace
} // namespace troupe
