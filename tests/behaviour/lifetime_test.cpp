// Ending streams, runtimes and their parts with work outstanding: J5, L11, F6.

#include <array>
#include <atomic>
#include <climits>
#include <random>
#include <vector>

#include <caf/actor_registry.hpp>

#include "actors/machine.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/behaviour/side_thread.hpp"

namespace troupe {
namespace {

class lifetime : public stage_test {
protected:
  static constexpr std::size_t tasks = 100;

  lifetime() : stage_test(patient_options()) {}

  // A hundred tasks that note in `begun` that they ran.
  void submit_hundred(stream& on) {
    for (std::size_t i = 0; i < tasks; ++i) {
      ASSERT_THAT(on.launch("task", [this, i] { begun[i] = 1; }), IsOk());
    }
  }

  // How many tasks ran, which must be the first ones.
  [[nodiscard]] std::size_t prefix() const {
    std::size_t length = 0;
    while (length < tasks && begun[length] == 1) ++length;
    for (auto i = length; i < tasks; ++i) EXPECT_EQ(begun[i], 0) << "a gap before task " << i;
    return length;
  }

  signal hold = rt.create_signal();
  std::array<std::atomic<int>, tasks> begun = {};
};

TEST_F(lifetime, J5_plain_destroy_waits_for_all_tasks) {
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_NO_FATAL_FAILURE(submit_hundred(s));
  side_thread waiter([&] { return s.synchronize(); });
  ASSERT_TRUE(waiter.waits_for(s));
  auto same = s;
  side_thread destroyer([&] { return s.destroy(); });
  await([&] { return same.state()->record->closed(); });
  EXPECT_THAT(same.launch("late", [] {}), HasCode(code::invalid_handle));
  EXPECT_EQ(prefix(), 0U);
  hold.raise();
  EXPECT_THAT(destroyer.join(), IsOk());
  EXPECT_EQ(prefix(), tasks) << "visible without any further wait";
  EXPECT_THAT(waiter.join(), IsOk());
  EXPECT_THAT(same.query(), HasCode(code::invalid_handle));
  EXPECT_THAT(same.synchronize(), HasCode(code::invalid_handle));
  EXPECT_THAT(same.abort(), HasCode(code::invalid_handle));
  EXPECT_THAT(s.destroy(), HasCode(code::invalid_handle));
  EXPECT_THAT(s.destroy(true), HasCode(code::invalid_handle));
}

TEST_F(lifetime, J5_forced_destroy_drops_the_tasks_and_releases_the_waiter) {
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_NO_FATAL_FAILURE(submit_hundred(s));
  side_thread waiter([&] { return s.synchronize(); });
  ASSERT_TRUE(waiter.waits_for(s));
  ASSERT_THAT(s.destroy(true), IsOk()); // the signal is never raised
  EXPECT_THAT(waiter.join(), HasCode(code::stream_abort));
  hold.raise();
  EXPECT_THAT(ctx.synchronize(), IsOk());
  EXPECT_EQ(prefix(), 0U);
  EXPECT_THAT(s.query(), HasCode(code::invalid_handle));
  EXPECT_THAT(s.launch("late", [] {}), HasCode(code::invalid_handle));
}

TEST_F(lifetime, J5_after_a_forced_destroy_a_prefix_has_run_and_nothing_runs_any_more) {
  for (int round = 0; round < (sanitized ? 10 : 50); ++round) {
    for (auto& each : begun) each = 0;
    auto doomed = ctx.create_stream().value();
    ASSERT_NO_FATAL_FAILURE(submit_hundred(doomed));
    ASSERT_THAT(doomed.destroy(true), IsOk());
    const auto length = prefix();
    ASSERT_THAT(ctx.synchronize(), IsOk());
    ASSERT_EQ(prefix(), length);
  }
}

TEST_F(lifetime, J5_stream_whose_last_handle_goes_finishes_what_it_accepted) {
  {
    auto brief = ctx.create_stream().value();
    ASSERT_THAT(brief.wait(hold), IsOk());
    ASSERT_NO_FATAL_FAILURE(submit_hundred(brief));
  }
  hold.raise();
  await([&] { return begun.back() != 0; });
  EXPECT_EQ(prefix(), tasks);
  await([&] { return dev.counters().streams == 2; }); // the default one and `s`
}

TEST_F(lifetime, J5_destroyed_context_ends_the_streams_it_owns_and_releases_their_waiters) {
  auto doomed = dev.create_context().value();
  auto inner = doomed.create_stream().value();
  ASSERT_THAT(inner.wait(hold), IsOk());
  ASSERT_NO_FATAL_FAILURE(submit_hundred(inner));
  side_thread waiter([&] { return inner.synchronize(); });
  ASSERT_TRUE(waiter.waits_for(inner));
  ASSERT_THAT(doomed.destroy(), IsOk());
  EXPECT_THAT(waiter.join(), HasCode(code::stream_abort));
  hold.raise();
  EXPECT_EQ(prefix(), 0U);
  EXPECT_FALSE(inner.launch("late", [] {}).ok());
  EXPECT_THAT(s.launch("elsewhere", [] {}), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(lifetime, J5_destroyed_context_also_ends_a_stream_that_was_closed_and_still_drains) {
  auto doomed = dev.create_context().value();
  auto inner = doomed.create_stream().value();
  const auto record = inner.state()->record;
  ASSERT_THAT(inner.wait(hold), IsOk());
  ASSERT_NO_FATAL_FAILURE(submit_hundred(inner));
  side_thread destroyer([&] { return inner.destroy(); });
  await([&] { return record->closed(); });
  ASSERT_THAT(doomed.destroy(), IsOk());
  EXPECT_THAT(destroyer.join(), HasCode(code::context_released)); // the signal is never raised
  await([&] { return record->line()->idle(); });
  EXPECT_EQ(prefix(), 0U);
}

// -- L11 ----------------------------------------------------------------------

using chance = std::mt19937;

// One piece of work of a random kind, finished or not when the runtime goes.
void submit_something(runtime& rt, context& ctx, stream& s, event& mark, buffer<int>& memory,
                      chance& dice) {
  switch (dice() % 8) {
    case 0: (void)s.launch("short", [] {}); break;
    case 1:
      (void)s.launch("endless", [](block b) {
        while (!b.stop_requested()) std::this_thread::yield();
      });
      break;
    case 2: (void)s.launch({"split", 8}, [](block, gsl::span<int>) {}, memory); break;
    case 3: (void)s.callback("call", [] {}); break;
    case 4: (void)s.wait(rt.create_signal()); break;
    case 5: (void)s.wait(rt.create_signal(), std::chrono::hours(1)); break;
    case 6: (void)s.record(mark); break;
    case 7: (void)s.wait(mark, std::chrono::hours(1)); break;
  }
  if (dice() % 8 == 0) (void)s.fill_bytes(memory, 1);
  if (dice() % 16 == 0) (void)s.abort();
  if (dice() % 32 == 0) (void)ctx.create_stream();
}

TEST(lifetimes, L11_shutdowns_from_several_threads_return_together_and_the_same) {
  LIVE_ONLY("its kernels wait for the test");
  auto options = test_options(1);
  options.stop_bound_ms = 20;
  auto rt = make_runtime(options);
  const auto door = std::make_shared<gate>();
  auto ctx = rt.device(0).value().create_context().value();
  auto s = ctx.create_stream().value();
  ASSERT_THAT(s.launch("stuck", [door] { door->pass(); }), IsOk());
  door->await_arrivals();
  side_thread first([&] { return rt.shutdown(); });
  side_thread second([&] { return rt.shutdown(); });
  for (const auto& outcome : {first.join(), second.join(), rt.shutdown()}) {
    EXPECT_THAT(outcome, HasCode(code::internal_error));
    EXPECT_THAT(outcome, SaysThat("compute lane"));
  }
  door->open();
}

TEST(lifetimes, L11_runtimes_end_whatever_is_outstanding_and_leave_no_actor_behind) {
  LIVE_ONLY("its kernels wait for the test");
  chance dice(20240611);
  for (int round = 0; round < (sanitized ? 50 : 1'000); ++round) {
    auto rt = make_runtime(patient_options(2));
    auto device = rt.device(static_cast<std::int64_t>(dice() % 2)).value();
    auto ctx = device.create_context().value();
    auto memory = ctx.allocate<int>(1024).value();
    auto mark = ctx.create_event().value();
    std::vector<stream> streams;
    for (auto wanted = 1 + dice() % 4; wanted > 0; --wanted) {
      streams.push_back(ctx.create_stream().value());
    }
    for (auto pieces = dice() % 40; pieces > 0; --pieces) {
      submit_something(rt, ctx, streams[dice() % streams.size()], mark, memory, dice);
    }
    const auto home = ctx.state()->home;
    if (dice() % 2 == 0) streams.clear();
    ASSERT_THAT(rt.shutdown(), IsOk()) << "round " << round;
    ASSERT_EQ(home->system().registry().running(), 0U) << "round " << round;
    ASSERT_THAT(device.create_context(), HasCode(code::uninitialized));
  }
}

TEST(lifetimes, L11_a_runtime_ends_while_threads_that_made_its_actors_live_on) {
  gate over;
  auto rt = std::make_unique<runtime>(test_options());
  test_thread client([&] {
    for (int i = 0; i < 50; ++i) {
      auto ctx = rt->device(i % 2).value().create_context().value();
      auto s = ctx.create_stream().value();
    }
    over.pass();
  });
  over.await_arrivals();
  rt.reset(); // whatever the client's thread still holds
  over.open();
  client.join();
}

// A copy that gets in while the runtime ends is let go, whatever its engine does by then.
TEST(lifetimes, L11_a_thread_that_copies_while_the_runtime_ends_is_told_so) {
  LIVE_ONLY("a loop that only a fair order ends");
  for (int round = 0; round < (sanitized ? 25 : 150); ++round) {
    auto rt = make_runtime(test_options(1));
    auto ctx = rt.device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    auto source = ctx.allocate<int>(64, initial::cleared).value();
    std::atomic<int> copied = 0;
    status last;
    test_thread client([&] {
      std::vector<int> target(64, 1);
      while ((last = s.copy(target, source)).ok()) ++copied;
    });
    await([&] { return copied >= round % 25 * 2; });
    EXPECT_THAT(rt.shutdown(), IsOk());
    client.join();
    EXPECT_THAT(last, HasCode(code::uninitialized));
  }
}

// Calls until one is refused as the runtime has ended; no call may throw or have no answer. Where
// one thread may run for as long as it can, in a simulated run, it calls some times only.
template <class Call>
void call_until_the_end(const Call& call) {
  for (int left = simulated() ? 20 : INT_MAX; left > 0; --left) {
    status outcome;
    ASSERT_NO_THROW(outcome = call());
    if (outcome.code() == code::uninitialized) return;
    ASSERT_FALSE(outcome.code() == code::internal_error) << outcome.message();
  }
}

TEST(lifetimes, L11_calls_that_meet_the_end_of_the_runtime_say_so) {
  const int rounds = simulated() ? 1 : sanitized ? 10 : 60;
  for (int round = 0; round < rounds; ++round) {
    auto rt = make_runtime(test_options(2));
    auto dev = rt.device(0).value();
    std::atomic<int> begun = 0;
    test_thread primary([&] {
      call_until_the_end([&] {
        ++begun;
        auto set = rt.set_device(1);
        auto reset = rt.reset_device(1);
        return set.ok() ? reset : set;
      });
      current::unbind();
    });
    test_thread maker([&] {
      call_until_the_end([&] {
        ++begun;
        auto made = dev.create_context();
        if (!made) return made.error();
        return made.value().allocate<int>(1).error();
      });
    });
    test_thread looker([&] {
      call_until_the_end([&] {
        ++begun;
        return dev.memory().error();
      });
    });
    await([&] { return begun > round % 50; });
    EXPECT_THAT(rt.shutdown(), IsOk());
    for (auto* each : {&primary, &maker, &looker}) each->join();
  }
}

TEST(lifetimes, L11_an_idle_runtime_ends_without_a_survivor_however_short_its_bound) {
  LIVE_ONLY("about the time that real threads take");
  auto options = test_options(1);
  options.stop_bound_ms = 1;
  std::atomic<bool> over = false;
  std::vector<std::thread> load; // so that threads of the runtime come late
  for (int i = 0; i < 4; ++i) load.emplace_back([&over] { while (!over) {} });
  for (int round = 0; round < (sanitized ? 10 : 50); ++round) {
    auto rt = make_runtime(options);
    auto ctx = rt.device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    EXPECT_THAT(s.launch("task", [] {}), IsOk());
    EXPECT_THAT(s.synchronize(), IsOk());
    EXPECT_THAT(rt.shutdown(), IsOk());
  }
  over = true;
  for (auto& each : load) each.join();
}

TEST(lifetimes, F6_a_runtime_may_be_a_static_object) {
  LIVE_ONLY("a process of its own");
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [] {
    static runtime rt(test_options());
    static auto ctx = rt.device(0).value().create_context().value();
    static auto s = ctx.create_stream().value();
    ctx.bind().or_throw();
    s.launch("work", [] {}).or_throw();
    s.synchronize().or_throw();
    std::exit(7);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(7), "");
}

} // namespace
} // namespace troupe
