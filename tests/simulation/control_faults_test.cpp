// What befalls control: answers, timers, the order of messages, and the actors themselves.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

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

fault_entry entry(fault_point point, fault_action action) {
  fault_entry made;
  made.name = "the fault";
  made.pick.point = point;
  made.action = action;
  return made;
}

fault_entry answer_to(std::string call, fault_action action) {
  auto made = entry(fault_point::reply, action);
  made.pick.operation = std::move(call);
  return made;
}

fault_entry at_message(std::string kind, fault_action action) {
  auto made = entry(fault_point::message, action);
  made.pick.message = std::move(kind);
  return made;
}

// Runs `body` under the fault, which must strike once; whoever waits must be let go.
testing::simulation_report play(const simulation_options& options,
                                const std::function<void(stage&)>& body) {
  auto report = play_out(options, body);
  EXPECT_EQ(report.faults.fired, 1U);
  return report;
}

void expect_cause(const status& outcome) {
  ASSERT_TRUE(outcome.record()) << outcome.describe();
  EXPECT_EQ(outcome.record()->plan_entry, "the fault") << outcome.describe();
}

// -- answers ------------------------------------------------------------------

TEST(lost_answers, a_call_ends_after_its_bound_and_names_itself_the_actor_and_the_bound) {
  play(under(answer_to("context::create_stream", fault_action::drop())), [](stage& here) {
    auto dev = here.runtime().device(0).value();
    auto ctx = dev.create_context().value();
    const auto refused = ctx.create_stream();
    EXPECT_EQ(here.elapsed(), 5s);
    EXPECT_THAT(refused, HasCode(code::wait_timeout));
    EXPECT_THAT(refused.error(), SaysThat("context::create_stream"));
    EXPECT_THAT(refused.error(), SaysThat("context "));
    EXPECT_THAT(refused.error(), SaysThat("5000 ms"));
    expect_cause(refused.error());
    here.pass_time(1ms);
    EXPECT_EQ(dev.counters().streams, 1U); // the default stream: the one made was given back
    EXPECT_THAT(ctx.create_stream(), IsOk());
  });
}

TEST(lost_answers, what_was_made_for_a_caller_that_has_gone_is_given_back) {
  play(under(answer_to("device::create_context", fault_action::drop())), [](stage& here) {
    auto dev = here.runtime().device(0).value();
    EXPECT_THAT(dev.create_context(), HasCode(code::wait_timeout));
    here.pass_time(1ms);
    EXPECT_EQ(dev.counters().streams, 0U);
    EXPECT_THAT(dev.create_context(), IsOk());
  });
  play(under(answer_to("context::allocate", fault_action::drop())), [](stage& here) {
    auto dev = here.runtime().device(0).value();
    auto ctx = dev.create_context().value();
    EXPECT_THAT(ctx.allocate<int>(1'000), HasCode(code::wait_timeout));
    EXPECT_EQ(dev.memory().value().used, 0U);
  });
  play(under(answer_to("runtime::set_device", fault_action::drop())), [](stage& here) {
    auto& rt = here.runtime();
    EXPECT_THAT(rt.set_device(0), HasCode(code::wait_timeout));
    here.pass_time(1ms);
    EXPECT_EQ(rt.device(0).value().counters().streams, 0U);
    EXPECT_THAT(rt.reset_device(0), HasCode(code::context_released)); // no use was left behind
    EXPECT_THAT(rt.set_device(0), IsOk());
    current::unbind();
    EXPECT_THAT(rt.reset_device(0), IsOk());
  });
  play(under(answer_to("runtime::reset_device", fault_action::drop())), [](stage& here) {
    auto& rt = here.runtime();
    EXPECT_THAT(rt.set_device(0), IsOk());
    current::unbind();
    EXPECT_THAT(rt.reset_device(0), HasCode(code::wait_timeout));
    here.pass_time(1ms);
    EXPECT_EQ(rt.device(0).value().counters().streams, 0U);
  });
}

TEST(lost_answers, a_late_one_takes_its_time_or_comes_to_nobody) {
  for (const double ms : {20.0, 6'000.0}) {
    play(under(answer_to("context::create_stream", fault_action::delay(ms))), [ms](stage& here) {
      auto dev = here.runtime().device(0).value();
      auto ctx = dev.create_context().value();
      {
        const auto made = ctx.create_stream();
        EXPECT_EQ(made.ok(), ms < 5'000);
        EXPECT_EQ(here.elapsed(), ms < 5'000 ? 20ms : 5s);
      }
      here.pass_time(2s);
      EXPECT_EQ(dev.counters().streams, 1U);
    });
  }
}

TEST(lost_answers, a_second_one_is_ignored) {
  play(under(answer_to("context::create_stream", fault_action::duplicate())), [](stage& here) {
    auto dev = here.runtime().device(0).value();
    auto ctx = dev.create_context().value();
    const auto made = ctx.create_stream();
    ASSERT_THAT(made, IsOk());
    here.pass_time(1ms);
    EXPECT_EQ(dev.counters().streams, 2U);
  });
}

TEST(lost_answers, without_a_bound_the_wait_is_reported_as_a_hang) {
  auto options = under(answer_to("context::create_stream", fault_action::drop()));
  options.runtime.control_timeout_ms = 0;
  const auto report = simulate(options, [](stage& here) {
    (void)here.runtime().device(0).value().create_context().value().create_stream();
  });
  EXPECT_TRUE(report.hang);
}

TEST(lost_messages, tell_the_caller_the_entry_of_the_plan) {
  for (const auto& action : {fault_action::drop(), fault_action::kill_actor(),
                             fault_action::restart_actor()}) {
    play(under(at_message("create_stream", action)), [](stage& here) {
      auto ctx = here.runtime().device(0).value().create_context().value();
      const auto made = ctx.create_stream();
      EXPECT_FALSE(made.ok());
      EXPECT_EQ(here.elapsed(), 0s);
      if (made.error().code() == code::internal_error) expect_cause(made.error());
    });
  }
}

TEST(lost_messages, who_was_not_told_of_its_end_is_told_at_the_next_look) {
  play(under(at_message("close_stream", fault_action::drop())), [](stage& here) {
    auto dev = here.runtime().device(0).value();
    auto ctx = dev.create_context().value();
    { const auto s = ctx.create_stream().value(); }
    here.pass_time(499ms);
    EXPECT_EQ(dev.counters().streams, 2U);
    here.pass_time(2ms);
    EXPECT_EQ(dev.counters().streams, 1U);
  });
  for (const auto* message : {"destroy_context", "close_stream"}) {
    play(under(at_message(message, fault_action::drop())), [](stage& here) {
      auto dev = here.runtime().device(0).value();
      { const auto ctx = dev.create_context().value(); }
      here.pass_time(501ms);
      EXPECT_EQ(dev.counters().streams, 0U);
    });
  }
}

// -- timers -------------------------------------------------------------------

// How long an abort takes to give up on a task that never ends; its bound is 300 ms.
std::chrono::nanoseconds giving_up_under(fault_action action) {
  auto options = under(entry(fault_point::timer, action));
  options.costs.kernels["stuck"] = cost_model::never;
  options.runtime.stop_bound_ms = 300;
  std::chrono::nanoseconds took{};
  play(options, [&took](stage& here) {
    auto ctx = here.runtime().device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    s.launch("stuck", [] {}).or_throw();
    s.abort().or_throw();
    s.launch("next", [] {}).or_throw();
    EXPECT_THAT(s.synchronize(), IsOk());
    took = here.elapsed();
  });
  return took;
}

TEST(lost_timers, G1_a_late_bound_is_late_and_a_lost_one_is_found_at_the_next_look) {
  const auto late = giving_up_under(fault_action::delay(50));
  EXPECT_GE(late, 350ms);
  EXPECT_LT(late, 351ms);
  const auto held = giving_up_under(fault_action::hold_until(400));
  EXPECT_GE(held, 400ms);
  EXPECT_LT(held, 401ms);
  const auto lost = giving_up_under(fault_action::drop());
  EXPECT_GE(lost, 500ms);
  EXPECT_LT(lost, 501ms);
}

TEST(lost_timers, a_device_side_wait_expires_all_the_same) {
  play(under(entry(fault_point::timer, fault_action::drop())), [](stage& here) {
    auto ctx = here.runtime().device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    const auto gate = here.runtime().create_signal();
    s.wait(gate, 300ms).or_throw();
    EXPECT_THAT(s.synchronize(), HasCode(code::task_timeout));
    EXPECT_EQ(here.elapsed(), 500ms);
  });
}

// -- the order of messages ------------------------------------------------------

TEST(reordered, a_message_is_overtaken_by_another_senders) {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  play(under(at_message("create_stream", fault_action::reorder())), [&](stage& here) {
    auto ctx = here.runtime().device(0).value().create_context().value();
    auto other = here.start_client("other", [&] { second = ctx.create_stream().value().id(); });
    first = ctx.create_stream().value().id();
    other.join();
    EXPECT_LT(here.elapsed(), 10ms);
  });
  EXPECT_GT(first, second);
}

// A block is freed, which nobody waits for, and its memory asked about by the same client.
std::uint64_t used_after_free(bool adversarial, std::chrono::nanoseconds& took) {
  std::uint64_t used = 0;
  const auto report =
      play(under(at_message("free_block", fault_action::reorder(adversarial))), [&](stage& here) {
        auto dev = here.runtime().device(0).value();
        auto ctx = dev.create_context().value();
        { const auto block = ctx.allocate<int>(1'000).value(); }
        used = dev.memory().value().used;
        took = here.elapsed();
      });
  EXPECT_EQ(report.faults.to_text().find("adversarial") != std::string::npos, adversarial);
  return used;
}

TEST(reordered, one_senders_messages_keep_their_order_unless_the_plan_is_adversarial) {
  std::chrono::nanoseconds took{};
  EXPECT_EQ(used_after_free(false, took), 0U);
  EXPECT_EQ(took, 10ms); // nobody came to overtake
  EXPECT_GT(used_after_free(true, took), 0U);
  EXPECT_EQ(took, 0ms);
}

TEST(reordered, a_hand_over_is_overtaken_by_another_streams_or_waits_a_moment_in_vain) {
  for (const bool alone : {false, true}) {
    auto options = under(entry(fault_point::handoff, fault_action::reorder()));
    options.runtime.compute_threads = 1;
    std::vector<int> ran;
    play(options, [&](stage& here) {
      auto ctx = here.runtime().device(0).value().create_context().value();
      auto a = ctx.create_stream().value();
      auto b = ctx.create_stream().value();
      a.launch("work", [&] { ran.push_back(1); }).or_throw();
      if (!alone) b.launch("work", [&] { ran.push_back(2); }).or_throw();
      EXPECT_THAT(ctx.synchronize(), IsOk());
      EXPECT_EQ(here.elapsed(), alone ? 11ms : 2ms);
    });
    EXPECT_EQ(ran, alone ? std::vector{1} : (std::vector{2, 1}));
  }
}

// -- pauses -------------------------------------------------------------------

TEST(paused_actors, handle_nothing_for_a_while_and_then_all_in_order) {
  auto until = at_message("create_stream", fault_action::pause_actor(20));
  until.action.ms = 0;
  until.action.until_ms = 20;
  for (const auto& fault : {at_message("create_stream", fault_action::pause_actor(20)), until}) {
    play(under(fault), [](stage& here) {
      auto dev = here.runtime().device(0).value();
      auto ctx = dev.create_context().value();
      std::uint64_t id = 0;
      auto other = here.start_client("other", [&] {
        here.pass_time(5ms);
        id = ctx.create_stream().value().id();
        EXPECT_EQ(here.elapsed(), 20ms);
      });
      auto third = here.start_client("third", [&] {
        here.pass_time(5ms);
        EXPECT_THAT(dev.create_context(), IsOk()); // of another actor
        EXPECT_EQ(here.elapsed(), 5ms);
      });
      const auto made = ctx.create_stream();
      EXPECT_EQ(here.elapsed(), 20ms);
      ASSERT_THAT(made, IsOk());
      other.join();
      third.join();
      EXPECT_GT(id, made.value().id());
    });
  }
}

TEST(paused_actors, are_let_go_when_the_runtime_ends) {
  play(under(at_message("create_stream", fault_action::pause_actor(1'000'000))), [](stage& here) {
    auto ctx = here.runtime().device(0).value().create_context().value();
    EXPECT_THAT(ctx.create_stream(), HasCode(code::wait_timeout));
    EXPECT_THAT(here.runtime().shutdown(), IsOk());
    EXPECT_LT(here.elapsed(), 5100ms);
  });
}

// -- restarts -----------------------------------------------------------------

// Three tasks of 1 ms on one stream.
struct three_tasks {
  std::vector<int> ran;
  std::chrono::nanoseconds took{};

  void operator()(stage& here) {
    auto ctx = here.runtime().device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    for (int i = 1; i <= 3; ++i) s.launch("work", [this, i] { ran.push_back(i); }).or_throw();
    EXPECT_THAT(s.synchronize(), IsOk());
    took = here.elapsed();
  }
};

TEST(restarted_actors, an_engine_gives_its_grant_to_a_fresh_one_which_begins_the_task) {
  three_tasks program;
  auto fault = entry(fault_point::execute, fault_action::restart_actor());
  fault.pick.operation = "work";
  fault.pick.ordinal = 2;
  play(under(fault), std::ref(program));
  EXPECT_EQ(program.ran, (std::vector{1, 2, 3}));
  EXPECT_EQ(program.took, 3ms);
}

TEST(restarted_actors, an_engine_that_was_at_work_has_it_begun_again) {
  three_tasks program;
  play(under(at_message("work_due", fault_action::restart_actor())), std::ref(program));
  EXPECT_EQ(program.ran, (std::vector{1, 2, 3}));
  EXPECT_EQ(program.took, 4ms);
}

TEST(restarted_actors, a_task_is_struck_once_however_often_it_is_begun) {
  three_tasks program;
  auto fault = entry(fault_point::execute, fault_action::restart_actor());
  fault.pick.times = 0;
  const auto report = simulate(under(fault), std::ref(program));
  EXPECT_FALSE(report.hang) << *report.hang;
  EXPECT_EQ(report.faults.fired, 3U);
  EXPECT_EQ(program.ran, (std::vector{1, 2, 3}));
}

TEST(restarted_actors, a_stream_refuses_one_call_and_keeps_its_work) {
  play(under(at_message("abort_stream", fault_action::restart_actor())), [](stage& here) {
    auto ctx = here.runtime().device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    int ran = 0;
    s.launch("work", [&] { ++ran; }).or_throw();
    const auto refused = s.abort();
    EXPECT_THAT(refused, HasCode(code::internal_error));
    expect_cause(refused);
    EXPECT_THAT(s.synchronize(), IsOk());
    EXPECT_EQ(ran, 1);
    EXPECT_THAT(s.abort(), IsOk());
    EXPECT_THAT(s.destroy(), IsOk());
  });
}

TEST(restarted_actors, a_stream_still_gives_up_on_what_an_earlier_abort_covered) {
  auto options = under(at_message("close_stream", fault_action::restart_actor()));
  options.costs.kernels["stuck"] = cost_model::never;
  play(options, [](stage& here) {
    auto ctx = here.runtime().device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    s.launch("stuck", [] {}).or_throw();
    EXPECT_THAT(s.abort(), IsOk());
    expect_cause(s.destroy());
    s.launch("next", [] {}).or_throw();
    EXPECT_THAT(s.synchronize(), IsOk());
    EXPECT_THAT(s.destroy(), IsOk());
  });
}

TEST(restarted_actors, a_memory_and_a_context_serve_the_next_call) {
  play(under(at_message("allocate_block", fault_action::restart_actor())), [](stage& here) {
    auto dev = here.runtime().device(0).value();
    auto ctx = dev.create_context().value();
    const auto refused = ctx.allocate<int>(8);
    EXPECT_THAT(refused, HasCode(code::internal_error));
    expect_cause(refused.error());
    EXPECT_EQ(dev.memory().value().used, 0U);
    EXPECT_THAT(ctx.allocate<int>(8), IsOk());
  });
  play(under(at_message("create_pool", fault_action::restart_actor())), [](stage& here) {
    auto ctx = here.runtime().device(0).value().create_context().value();
    expect_cause(ctx.create_pool().error());
    EXPECT_THAT(ctx.create_pool(), IsOk());
  });
}

TEST(killed_actors, serve_nobody_any_more) {
  play(under(at_message("allocate_block", fault_action::kill_actor())), [](stage& here) {
    auto dev = here.runtime().device(0).value();
    auto ctx = dev.create_context().value();
    expect_cause(ctx.allocate<int>(8).error());
    EXPECT_THAT(ctx.allocate<int>(8), HasCode(code::internal_error));
  });
}

TEST(restarted_actors, a_device_no_longer_counts_its_primary_context_and_ends_it) {
  play(under(at_message("create_context", fault_action::restart_actor())), [](stage& here) {
    auto& rt = here.runtime();
    auto dev = rt.device(0).value();
    rt.set_device(0).or_throw();
    const auto before = current::context().value();
    expect_cause(dev.create_context().error());
    here.pass_time(1ms);
    const auto health = before.health();
    EXPECT_THAT(health, HasCode(code::context_released));
    ASSERT_TRUE(health.record()->cause);
    EXPECT_EQ(health.record()->cause->plan_entry, "the fault");
    EXPECT_EQ(dev.counters().streams, 0U);
    EXPECT_THAT(rt.set_device(0), IsOk());
    EXPECT_NE(current::context().value().id(), before.id());
    EXPECT_THAT(dev.create_context(), IsOk());
    current::unbind();
    EXPECT_THAT(rt.reset_device(0), IsOk());
  });
}

} // namespace
} // namespace troupe
