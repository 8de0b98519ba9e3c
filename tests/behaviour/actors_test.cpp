// What a program sees of the actors behind the facade: handlers that throw (L1), messages that get
// lost (L4), actors that are killed (L5), timers (L6).
//
// L9, the cost of the scheduler idle and busy, is measured by the benchmark. L10 and L12 need a
// scheduler that takes the order of messages into its hands: they are tests of the simulation.

#include <stdexcept>
#include <string>
#include <vector>

#include <caf/send.hpp>

#include "actors/ask.hpp"
#include "actors/context_record.hpp"
#include "actors/device_record.hpp"
#include "actors/machine.hpp"
#include "actors/pool_record.hpp"
#include "actors/root_actor.hpp"
#include "actors/stream_actor.hpp"
#include "api/src/states.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/behaviour/side_thread.hpp"

namespace troupe {
namespace {

// Cannot do its one job.
class clumsy_actor : public actor_base {
public:
  explicit clumsy_actor(caf::actor_config& config)
      : actor_base(config, lane_id::control, "clumsy") {}

private:
  caf::behavior handlers() override {
    return {on<abort_stream>([](abort_stream&) { throw std::runtime_error("dropped it"); }),
            on<open_device>([](open_device& m) { m.answer(status{}); })};
  }
};

class actors : public stage_test {
protected:
  actors() : stage_test(patient_options()) {}

  machine& home() { return *s.state()->home; }
  stream_record& record() { return *s.state()->record; }

  // The answer of `target` to an abort.
  status ask_to_abort(const caf::actor& target) {
    return ask<status>(home(), target, "test",
                       [](reply<status> answer) { return abort_stream{std::move(answer)}; });
  }

  // Ends `target` from outside and waits until it is down.
  void kill(const caf::actor& target) {
    const auto down = std::make_shared<completion>();
    target->attach_functor([down] { down->set(); });
    caf::anon_send_exit(target, caf::exit_reason::kill);
    await([&] { return down->is_set(); });
  }
};

// -- L1 -----------------------------------------------------------------------

TEST_F(actors, L1_handler_that_throws_answers_and_its_actor_lives_on) {
  ::testing::internal::CaptureStdout();
  const auto clumsy = spawn_actor<clumsy_actor>(home().system());
  for (int again = 0; again < 3; ++again) {
    const auto outcome = ask_to_abort(clumsy);
    EXPECT_THAT(outcome, HasCode(code::internal_error));
    EXPECT_THAT(outcome, SaysThat("clumsy actor"));
    EXPECT_THAT(outcome, SaysThat("dropped it"));
  }
  EXPECT_THAT(ask<status>(home(), clumsy, "test",
                          [](reply<status> answer) { return open_device{0, std::move(answer)}; }),
              IsOk());
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

TEST_F(actors, L1_stream_serves_on_after_a_throw_in_its_handler) {
  ::testing::internal::CaptureStdout();
  post(record().actor,
       abort_stream{reply<status>([](status) { throw std::runtime_error("no hands"); })});
  EXPECT_THAT(ask_to_abort(record().actor), IsOk());
  bool ran = false;
  EXPECT_THAT(s.launch("after", [&] { ran = true; }), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_THAT(s.abort(), IsOk());
  EXPECT_THAT(s.destroy(), IsOk());
  EXPECT_TRUE(ran);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

// -- L4 -----------------------------------------------------------------------

TEST_F(actors, L4_message_to_an_actor_that_has_ended_is_answered) {
  const auto target = record().actor;
  ASSERT_NO_FATAL_FAILURE(kill(target));
  EXPECT_THAT(ask_to_abort(target), HasCode(code::internal_error));
}

TEST_F(actors, L4_message_that_nobody_handles_is_answered) {
  const auto before = actor_base::unexpected_messages();
  const auto outcome = ask_to_abort(record().context().device().actor);
  EXPECT_THAT(outcome, HasCode(code::internal_error));
  EXPECT_THAT(outcome, SaysThat("ended before giving it"));
  EXPECT_EQ(actor_base::unexpected_messages(), before + 1);
  EXPECT_THAT(dev.create_context(), IsOk()) << "the actor that did not understand works on";
}

TEST_F(actors, L4_message_that_is_lost_on_the_way_is_answered) {
  int answers = 0;
  status answer;
  {
    const abort_stream message{reply<status>([&](status given) {
      ++answers;
      answer = std::move(given);
    })};
    const auto copy = message;
    EXPECT_EQ(answers, 0);
  }
  EXPECT_EQ(answers, 1);
  EXPECT_THAT(answer, HasCode(code::internal_error));
}

TEST_F(actors, L4_facade_calls_end_with_a_code_when_their_actor_is_gone) {
  auto& device = record().context().device();
  ASSERT_NO_FATAL_FAILURE(kill(device.memory_keeper));
  EXPECT_THAT(ctx.allocate<int>(16), HasCode(code::lost_heartbeat));
  EXPECT_THAT(dev.memory(), HasCode(code::lost_heartbeat));
  ASSERT_NO_FATAL_FAILURE(kill(device.actor));
  EXPECT_THAT(dev.create_context(), HasCode(code::lost_heartbeat));
  EXPECT_THAT(rt.set_device(0), HasCode(code::lost_heartbeat));
  EXPECT_THAT(s.launch("work", [] {}), HasCode(code::lost_heartbeat));
  EXPECT_THAT(s.synchronize(), HasCode(code::lost_heartbeat));
  EXPECT_THAT(dev.reset(), IsOk()) << "others take their place";
  auto again = dev.create_context().value();
  EXPECT_THAT(again.allocate<int>(16), IsOk());
}

TEST_F(actors, L4_facade_calls_end_with_a_code_when_their_context_actor_is_gone) {
  ASSERT_NO_FATAL_FAILURE(kill(record().context().actor));
  for (const auto& each :
       {ctx.create_stream().error(), ctx.create_pool().error(), ctx.create_event().error(),
        ctx.allocate<int>(16).error(), ctx.synchronize(), ctx.health(), ctx.bind()}) {
    EXPECT_THAT(each, HasCode(code::context_released));
  }
  EXPECT_FALSE(s.launch("work", [] {}).ok()) << "its streams have ended with it";
  EXPECT_THAT(ctx.destroy(), HasCode(code::invalid_handle));
  EXPECT_THAT(dev.create_context(), IsOk()) << "its device goes on";
}

TEST_F(actors, L4_pool_calls_end_with_a_code_when_its_actor_is_gone) {
  auto pool = ctx.create_pool().value();
  ASSERT_NO_FATAL_FAILURE(kill(pool.state()->record->actor));
  EXPECT_THAT(pool.allocate<int>(s, 1'024), HasCode(code::internal_error));
  EXPECT_THAT(s.launch("work", [] {}), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(actors, L4_stream_calls_end_with_a_code_when_its_actor_is_gone) {
  auto other = ctx.create_stream().value();
  ASSERT_NO_FATAL_FAILURE(kill(record().actor));
  for (const auto& each : {s.launch("work", [] {}), s.callback("call", [] {}), s.synchronize(),
                           s.query().error(), s.abort(), s.destroy(), s.destroy(true)}) {
    EXPECT_THAT(each, HasCode(code::invalid_handle));
  }
  EXPECT_THAT(other.launch("work", [] {}), IsOk());
  EXPECT_THAT(other.synchronize(), IsOk());
}

TEST_F(actors, L4_waits_end_with_a_code_when_the_engine_that_should_work_is_gone) {
  ASSERT_THAT(s.launch("first", [] {}), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  const auto hold = rt.create_signal();
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.launch("nobody runs it", [] {}), IsOk());
  side_thread waiter([&] { return s.synchronize(); });
  ASSERT_TRUE(waiter.waits_for(s));
  record().context().device().port(engine_kind::compute).end_engines(); // as if all were killed
  hold.raise();
  EXPECT_THAT(waiter.join(), HasCode(code::stream_abort));
  EXPECT_EQ(s.counters().dropped, 1U);
  EXPECT_THAT(rt.shutdown(), IsOk());
}

// -- L5 -----------------------------------------------------------------------

TEST_F(actors, L5_stream_actor_that_is_killed_goes_down_at_once_and_lets_its_waiters_go) {
  LIVE_ONLY("its kernels wait for the test");
  gate door;
  ASSERT_THAT(s.callback("held", [&] { door.pass(); }), IsOk());
  door.await_arrivals();
  side_thread waiter([&] { return s.synchronize(); });
  ASSERT_TRUE(waiter.waits_for(s));
  ASSERT_NO_FATAL_FAILURE(kill(record().actor)); // down while the callback is still inside
  EXPECT_THAT(waiter.join(), HasCode(code::stream_abort));
  EXPECT_THAT(s.launch("late", [] {}), HasCode(code::invalid_handle));
  EXPECT_THAT(s.abort(), HasCode(code::invalid_handle));
  auto other = ctx.create_stream().value();
  EXPECT_THAT(other.launch("elsewhere", [] {}), IsOk());
  EXPECT_THAT(other.synchronize(), IsOk());
  door.open();
  await([&] { return record().line()->idle(); });
}

TEST_F(actors, L5_killed_stream_drops_what_waits_on_a_ticket) {
  const auto hold = rt.create_signal();
  bool ran = false;
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.launch("behind", [&] { ran = true; }), IsOk());
  side_thread waiter([&] { return s.synchronize(); });
  ASSERT_TRUE(waiter.waits_for(s));
  ASSERT_NO_FATAL_FAILURE(kill(record().actor));
  EXPECT_THAT(waiter.join(), HasCode(code::stream_abort));
  hold.raise();
  EXPECT_THAT(ctx.synchronize(), IsOk());
  EXPECT_FALSE(ran);
}

TEST_F(actors, L5_stream_that_is_killed_while_it_drains_lets_its_destroyer_go) {
  const auto hold = rt.create_signal();
  bool ran = false;
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.launch("behind", [&] { ran = true; }), IsOk());
  side_thread destroyer([&] { return s.destroy(); });
  await([&] { return record().closed(); });
  ASSERT_NO_FATAL_FAILURE(kill(record().actor));
  EXPECT_THAT(destroyer.join(), HasCode(code::stream_abort)); // the signal is never raised
  await([&] { return record().line()->idle(); });
  EXPECT_FALSE(ran);
}

// -- L6 -----------------------------------------------------------------------

TEST_F(actors, L6_waits_that_end_early_leave_no_timer_behind) {
  constexpr std::size_t rounds = 10;
  constexpr std::size_t width = sanitized ? 100 : 1'000;
  std::vector<stream> streams;
  for (std::size_t i = 0; i < width; ++i) streams.push_back(ctx.create_stream().value());
  for (std::size_t round = 0; round < rounds; ++round) {
    const auto hold = rt.create_signal();
    for (auto& each : streams) ASSERT_THAT(each.wait(hold, std::chrono::hours(1)), IsOk());
    ASSERT_EQ(home().scheduler().pending_timers(), width);
    hold.raise();
    ASSERT_THAT(ctx.synchronize(), IsOk());
    ASSERT_EQ(home().scheduler().pending_timers(), 0U);
  }
  for (const auto& each : streams) {
    EXPECT_LE(each.counters().queue_bytes, command_queue::storage_kept_bytes);
  }
  EXPECT_THAT(rt.shutdown(), IsOk());
}

TEST_F(actors, L6_shutdown_waits_for_no_timer) {
  const auto hold = rt.create_signal();
  std::vector<stream> streams;
  for (int i = 0; i < 100; ++i) {
    auto& each = streams.emplace_back(ctx.create_stream().value());
    ASSERT_THAT(each.wait(hold, std::chrono::hours(1)), IsOk());
  }
  side_thread waiter([&] { return streams.front().synchronize(); });
  ASSERT_TRUE(waiter.waits_for(streams.front()));
  EXPECT_THAT(rt.shutdown(), IsOk()); // or this test ends an hour from now
  EXPECT_FALSE(waiter.join().ok());
}

} // namespace
} // namespace troupe
