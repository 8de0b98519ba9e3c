// K3: the entry of a plan is told by everything that it brings about, also by those who only waited in
// vain, and by nothing else.

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/simulated.hpp"
#include "tests/support/status_matchers.hpp"
#include "troupe/testing.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

using testing::stage;
using namespace std::chrono_literals;

std::string entry_of(const status& outcome) {
  return outcome.record() ? outcome.record()->plan_entry : std::string();
}

fault_entry at_message(const char* kind, fault_action action) {
  auto made = fault_at(fault_point::message, action);
  made.pick.message = kind;
  return made;
}

class holds_up : public ::testing::TestWithParam<std::pair<fault_point, fault_action>> {};

TEST_P(holds_up, K3_a_command_and_all_who_wait_for_it_name_the_entry) {
  auto entry = fault_at(GetParam().first, GetParam().second);
  entry.pick.stream = 3;
  const auto report = play_out(under(entry), [](stage& here) {
    auto ctx = make_context(here);
    auto s = ctx.create_stream().value();
    auto other = ctx.create_stream().value();
    ASSERT_EQ(s.id(), 3U);
    const auto mark = ctx.create_event().value();
    s.launch("work", [] {}).or_throw();
    s.record(mark).or_throw();
    other.wait(mark).or_throw();
    EXPECT_EQ(entry_of(s.synchronize(100ms)), "the fault");
    EXPECT_EQ(entry_of(other.synchronize(100ms)), "the fault");
    EXPECT_EQ(entry_of(ctx.synchronize(50ms)), "the fault");
    const auto in_vain = mark.synchronize(50ms);
    EXPECT_THAT(in_vain, HasCode(code::event_sync_timeout));
    EXPECT_EQ(entry_of(in_vain), "the fault");
    auto third = ctx.create_stream().value();
    third.wait(mark, 50ms).or_throw();
    const auto expired = third.synchronize();
    EXPECT_THAT(expired, HasCode(code::task_timeout));
    EXPECT_EQ(entry_of(expired), "the fault");
    s.abort().or_throw();
    other.abort().or_throw();
  });
  EXPECT_EQ(report.faults.fired, 1U);
}

INSTANTIATE_TEST_SUITE_P(
    each, holds_up,
    ::testing::Values(std::pair{fault_point::execute, fault_action::never_complete()},
                      std::pair{fault_point::execute, fault_action::slow(1e6)},
                      std::pair{fault_point::execute, fault_action::delay(450)},
                      std::pair{fault_point::complete, fault_action::drop()},
                      std::pair{fault_point::complete, fault_action::delay(450)},
                      std::pair{fault_point::handoff, fault_action::drop()},
                      std::pair{fault_point::handoff, fault_action::hold_until(450)}));

TEST(holds_up_no_more, K3_what_a_fault_held_up_before_is_not_blamed_for_what_comes_later) {
  auto options = under(fault_at(fault_point::execute, fault_action::delay(5)));
  options.costs.kernels["stuck"] = cost_model::never;
  play_out(options, [](stage& here) {
    const auto ctx = make_context(here);
    auto s = ctx.create_stream().value();
    s.launch("work", [] {}).or_throw();
    s.launch("stuck", [] {}).or_throw();
    const auto late = s.synchronize(100ms);
    EXPECT_THAT(late, HasCode(code::stream_sync_timeout));
    EXPECT_EQ(entry_of(late), "");
    s.abort().or_throw();
  });
}

TEST(holds_up_messages, K3_a_call_whose_request_is_held_up_names_the_entry_until_it_is_let_go) {
  for (const auto& action : {fault_action::delay(6'000), fault_action::hold_until(6'000),
                             fault_action::pause_actor(6'000)}) {
    auto options = under(at_message("create_stream", action));
    options.runtime.control_timeout_ms = 2'000;
    play_out(options, [](stage& here) {
      auto ctx = make_context(here);
      const auto late = ctx.create_stream();
      EXPECT_THAT(late, HasCode(code::wait_timeout));
      EXPECT_EQ(entry_of(late.error()), "the fault");
      here.pass_time(5s);
      EXPECT_THAT(ctx.create_stream(), IsOk());
    });
  }
}

TEST(holds_up_answers, K3_a_call_whose_answer_is_held_up_or_lost_names_the_entry) {
  for (const auto& action :
       {fault_action::delay(6'000), fault_action::hold_until(6'000), fault_action::drop()}) {
    auto entry = fault_at(fault_point::reply, action);
    entry.pick.operation = "context::create_stream";
    auto options = under(entry);
    options.runtime.control_timeout_ms = 2'000;
    play_out(options, [](stage& here) {
      auto ctx = make_context(here);
      const auto late = ctx.create_stream();
      EXPECT_THAT(late, HasCode(code::wait_timeout));
      EXPECT_EQ(entry_of(late.error()), "the fault");
      EXPECT_THAT(ctx.create_stream(), IsOk());
    });
  }
}

TEST(killed_actors, K3_all_who_ask_one_learn_what_killed_it) {
  play_out(under(at_message("create_pool", fault_action::kill_actor())), [](stage& here) {
    auto ctx = make_context(here);
    std::vector<testing::client> all;
    for (int i = 0; i < 3; ++i) {
      all.push_back(here.start_client("client " + std::to_string(i), [&ctx] {
        const auto refused = ctx.create_pool();
        EXPECT_TRUE(refused.code() == code::internal_error ||
                    refused.code() == code::context_released)
            << refused.error().describe();
        EXPECT_EQ(entry_of(refused.error()), "the fault");
      }));
    }
    for (auto& each : all) each.join();
  });
}

TEST(killed_actors, K3_what_a_killed_context_or_stream_drops_and_refuses_names_the_entry) {
  for (const bool context_dies : {true, false}) {
    const auto kind = context_dies ? "create_pool" : "abort_stream";
    play_out(under(at_message(kind, fault_action::kill_actor())), [&](stage& here) {
      auto ctx = make_context(here);
      auto s = ctx.create_stream().value();
      s.wait(here.runtime().create_signal()).or_throw();
      auto waiter = here.start_client("waiter", [s] {
        const auto dropped = s.synchronize();
        EXPECT_FALSE(dropped.ok());
        EXPECT_EQ(entry_of(dropped), "the fault") << dropped.describe();
      });
      here.pass_time(1ms);
      const auto struck = context_dies ? ctx.create_pool().error() : s.abort();
      EXPECT_EQ(entry_of(struck), "the fault") << struck.describe();
      waiter.join();
      const auto refused = s.launch("late", [] {});
      EXPECT_EQ(entry_of(refused), "the fault") << refused.describe();
      const auto closed = s.destroy();
      EXPECT_EQ(entry_of(closed), "the fault") << closed.describe();
      EXPECT_EQ(ctx.create_event().ok(), !context_dies);
    });
  }
}

} // namespace
} // namespace troupe
