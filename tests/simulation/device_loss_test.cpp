// A device that is gone: who learns it, when, and how it comes back.

#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tests/support/status_matchers.hpp"
#include "troupe/testing.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

using testing::simulate;
using testing::simulation_options;
using testing::stage;
using namespace std::chrono_literals;

// A plan that loses device 1 at `point`, for `ms` or for good. A task named "work" takes 1 ms, one
// named "long" ten seconds.
simulation_options losing(fault_point point, double ms = 0) {
  simulation_options made;
  made.faults.emplace();
  fault_entry entry;
  entry.name = "gone";
  entry.pick.point = point;
  entry.pick.device = 1;
  entry.action = fault_action::lose_device(ms);
  made.faults->entries = {entry};
  made.costs.kernels["work"] = 1'000'000;
  made.costs.kernels["long"] = 10'000'000'000;
  return made;
}

testing::simulation_report play(const simulation_options& options,
                                const std::function<void(stage&)>& body) {
  auto report = simulate(options, body);
  EXPECT_FALSE(report.hang) << *report.hang;
  EXPECT_EQ(report.faults.fired, 1U);
  return report;
}

void expect_lost(const status& outcome) {
  EXPECT_THAT(outcome, HasCode(code::lost_heartbeat));
  ASSERT_TRUE(outcome.record());
  EXPECT_EQ(outcome.record()->plan_entry, "gone");
}

TEST(device_loss, G4_every_wait_on_it_ends_and_none_on_another_device) {
  auto options = losing(fault_point::heartbeat);
  options.faults->entries[0].pick.from_ms = 5'000;
  int lost = 0;
  int finished = 0;
  play(options, [&](stage& here) {
    std::vector<testing::client> clients;
    for (int i = 0; i < 16; ++i) {
      clients.push_back(here.start_client("waiter " + std::to_string(i), [&, i] {
        auto ctx = here.runtime().device(i % 2).value().create_context().value();
        auto s = ctx.create_stream().value();
        s.launch("long", [] {}).or_throw();
        const auto outcome = s.synchronize();
        if (outcome.ok()) {
          ++finished;
        } else if (outcome.code() == code::lost_heartbeat && here.elapsed() <= 6s) {
          EXPECT_GE(here.elapsed(), 5s);
          ++lost;
        }
      }));
    }
    for (auto& each : clients) each.join();
  });
  EXPECT_EQ(lost, 8);
  EXPECT_EQ(finished, 8);
}

class lost_at : public ::testing::TestWithParam<fault_point> {};

TEST_P(lost_at, what_is_in_flight_fails_at_once_and_other_devices_go_on) {
  play(losing(GetParam()), [](stage& here) {
    auto near = here.runtime().device(0).value().create_context().value();
    auto far = here.runtime().device(1).value().create_context().value();
    auto here_stream = near.create_stream().value();
    auto there_stream = far.create_stream().value();
    int ran = 0;
    for (int i = 0; i < 3; ++i) {
      here_stream.launch("work", [&ran] { ++ran; }).or_throw();
      (void)there_stream.launch("work", [] {}); // refused where that is what struck
    }
    expect_lost(there_stream.synchronize());
    EXPECT_LE(here.elapsed(), 1ms);
    expect_lost(there_stream.launch("work", [] {}));
    EXPECT_THAT(here_stream.synchronize(), IsOk());
    EXPECT_EQ(ran, 3);
    EXPECT_THAT(here_stream.launch("work", [] {}), IsOk());
  });
}

INSTANTIATE_TEST_SUITE_P(each_point, lost_at,
                         ::testing::Values(fault_point::submit, fault_point::handoff,
                                           fault_point::execute, fault_point::complete),
                         [](const auto& each) { return std::string(to_string(each.param)); });

TEST(device_loss, everything_is_refused_until_it_is_back_and_was_reset) {
  play(losing(fault_point::execute, 100), [](stage& here) {
    auto dev = here.runtime().device(1).value();
    auto ctx = dev.create_context().value();
    auto s = ctx.create_stream().value();
    auto idle = ctx.create_stream().value();
    auto pool = ctx.create_pool().value();
    auto data = ctx.allocate<int>(1'000).value();
    std::vector<int> host(1'000);
    s.launch("work", [] {}).or_throw();
    expect_lost(s.synchronize());
    expect_lost(dev.create_context().error());
    expect_lost(dev.memory().error());
    expect_lost(ctx.create_stream().error());
    expect_lost(ctx.create_event().error());
    expect_lost(ctx.create_pool().error());
    expect_lost(ctx.allocate<int>(8).error());
    expect_lost(pool.allocate<int>(s, 8).error());
    expect_lost(ctx.copy(std::span(host), data));
    expect_lost(ctx.synchronize());
    expect_lost(idle.synchronize());
    expect_lost(idle.query().error());
    expect_lost(ctx.health());
    expect_lost(here.runtime().set_device(1));
    EXPECT_THAT(idle.destroy(), IsOk());
    expect_lost(dev.reset()); // still gone
    here.pass_time(200ms);
    expect_lost(dev.create_context().error()); // back, and not reset
    EXPECT_THAT(dev.reset(), IsOk());
    EXPECT_EQ(dev.memory().value().used, 0U);
    EXPECT_EQ(dev.counters().streams, 0U);
    EXPECT_THAT(ctx.create_stream(), HasCode(code::context_released));
    auto fresh = dev.create_context().value();
    auto again = fresh.create_stream().value();
    int ran = 0;
    again.launch("work", [&ran] { ++ran; }).or_throw();
    EXPECT_THAT(again.synchronize(), IsOk());
    EXPECT_EQ(ran, 1);
    EXPECT_THAT(here.runtime().set_device(1), IsOk());
    current::unbind();
  });
}

TEST(device_loss, who_waits_for_its_events_on_another_device_fails_with_the_cause) {
  auto options = losing(fault_point::heartbeat);
  play(options, [](stage& here) {
    auto near = here.runtime().device(0).value().create_context().value();
    auto far = here.runtime().device(1).value().create_context().value();
    auto waits = near.create_stream().value();
    auto works = far.create_stream().value();
    auto done = far.create_event().value();
    works.launch("long", [] {}).or_throw();
    works.record(done).or_throw();
    waits.wait(done).or_throw();
    waits.launch("work", [] {}).or_throw();
    const auto outcome = waits.synchronize();
    EXPECT_THAT(outcome, HasCode(code::stream_abort));
    EXPECT_THAT(outcome, SaysThat("device 1 was lost"));
    EXPECT_THAT(done.synchronize(), HasCode(code::lost_heartbeat));
    EXPECT_LE(here.elapsed(), 1'001ms); // the task in flight had to be given up on first
  });
}

TEST(device_loss, a_task_that_never_ends_is_given_up_on_by_reset) {
  auto options = losing(fault_point::heartbeat, 10);
  options.costs.kernels["stuck"] = cost_model::never;
  play(options, [](stage& here) {
    auto dev = here.runtime().device(1).value();
    auto ctx = dev.create_context().value();
    auto data = ctx.allocate<int>(1'000).value();
    auto s = ctx.create_stream().value();
    s.launch("stuck", [] {}).or_throw();
    expect_lost(s.synchronize());
    here.pass_time(20ms);
    EXPECT_THAT(dev.reset(), IsOk());
    EXPECT_LE(here.elapsed(), 2s);
    EXPECT_EQ(dev.memory().value().used, 0U);
    EXPECT_THAT(dev.create_context(), IsOk());
  });
}

TEST(device_reset, A3_ends_all_contexts_of_a_device_that_was_never_lost) {
  const auto report = simulate({}, [](stage& here) {
    auto& rt = here.runtime();
    auto dev = rt.device(0).value();
    rt.set_device(0).or_throw();
    auto ctx = dev.create_context().value();
    auto other = rt.device(1).value().create_context().value();
    ctx.bind().or_throw();
    auto s = ctx.create_stream().value();
    auto data = ctx.allocate<int>(1'000).value();
    s.launch("long", [] {}).or_throw();
    EXPECT_THAT(dev.reset(), IsOk());
    EXPECT_EQ(dev.memory().value().used, 0U);
    EXPECT_EQ(dev.counters().streams, 0U);
    EXPECT_THAT(ctx.create_stream(), HasCode(code::context_released));
    EXPECT_THAT(current::context(), HasCode(code::context_released));
    EXPECT_THAT(rt.reset_device(0), HasCode(code::context_released));
    EXPECT_THAT(rt.set_device(0), IsOk());
    current::unbind();
    EXPECT_THAT(other.create_stream(), IsOk());
    EXPECT_THAT(dev.reset(), IsOk());
  });
  EXPECT_FALSE(report.hang) << *report.hang;
}

} // namespace
} // namespace troupe
