// What a call says about work that failed or did not run: no false success, no failure that is
// told to nobody. B7, D1, F1, F2, J5, and the rule of aborts.

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "actors/context_record.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/behaviour/side_thread.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

class true_outcomes : public stage_test {
protected:
  true_outcomes() : stage_test(patient_options()) {}

  static void fail() { throw std::runtime_error("broken on purpose"); }

  static void await_idle(const stream& each) {
    await([&] { return each.query().value(); });
  }

  stream other = ctx.create_stream().value();
  signal hold = rt.create_signal();
};

// -- copies of ordinary memory -------------------------------------------------

class true_copies : public true_outcomes {
protected:
  // A copy to ordinary memory that waits behind `hold`, and what ends it otherwise.
  template <class End>
  status outcome_of_copy_ended_by(End end) {
    EXPECT_THAT(s.wait(hold), IsOk());
    side_thread copying([&] { return s.copy(target, source); });
    EXPECT_TRUE(copying.waits_for(s));
    end();
    return copying.join();
  }

  buffer<int> source = ctx.allocate<int>(1000, initial::cleared).value();
  std::vector<int> target = std::vector<int>(1000, 5);
};

TEST_F(true_copies, D1_a_copy_that_stop_mode_dropped_says_the_first_cause) {
  ASSERT_THAT(s.set_failure_mode(failure_mode::stop), IsOk());
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.launch("bad", &fail), IsOk());
  side_thread copying([&] { return s.copy(target, source); });
  ASSERT_TRUE(copying.waits_for(s));
  hold.raise();
  const auto outcome = copying.join();
  EXPECT_THAT(outcome, HasCode(code::kernel_exception));
  EXPECT_THAT(outcome, SaysThat("'bad'"));
  EXPECT_EQ(target, std::vector<int>(1000, 5)) << "it did not run";
}

TEST_F(true_copies, D1_a_copy_whose_stream_is_aborted_says_so) {
  EXPECT_THAT(outcome_of_copy_ended_by([&] { EXPECT_THAT(s.abort(), IsOk()); }),
              HasCode(code::stream_abort));
}

TEST_F(true_copies, D1_a_copy_whose_context_is_destroyed_says_so) {
  EXPECT_THAT(outcome_of_copy_ended_by([&] { EXPECT_THAT(ctx.destroy(), IsOk()); }),
              HasCode(code::context_released));
}

TEST_F(true_copies, D1_a_copy_whose_runtime_is_shut_down_says_so) {
  EXPECT_THAT(outcome_of_copy_ended_by([&] { EXPECT_THAT(rt.shutdown(), IsOk()); }),
              HasCode(code::uninitialized));
}

// Aborts that come before the copy, while it runs, between its submission and the caller's wait ...
TEST_F(true_copies, D1_a_copy_that_meets_aborts_says_whether_it_ran) {
  LIVE_ONLY("a loop that only a fair order ends");
  constexpr int copies = sanitized ? 1'000 : 10'000;
  std::atomic<bool> done = false;
  test_thread aborting([&] {
    while (!done) EXPECT_THAT(s.abort(), IsOk());
  });
  int false_success = 0;
  for (int i = 0; i < copies; ++i) {
    target[0] = 5;
    const auto outcome = s.copy(target, source);
    if (outcome.ok()) {
      false_success += target[0] == 0 ? 0 : 1;
    } else {
      EXPECT_THAT(outcome, HasCode(code::stream_abort));
    }
  }
  done = true;
  aborting.join();
  EXPECT_EQ(false_success, 0);
}

// -- aborts -------------------------------------------------------------------

TEST_F(true_outcomes, abort_is_told_to_those_who_wait_and_counted_for_those_who_come_later) {
  ASSERT_THAT(s.launch("before", [] {}), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  std::atomic<bool> ran = false;
  ASSERT_THAT(s.wait(hold), IsOk());
  for (int i = 0; i < 9; ++i) ASSERT_THAT(s.launch("dropped", [&] { ran = true; }), IsOk());
  side_thread waiter([&] { return s.synchronize(); });
  ASSERT_TRUE(waiter.waits_for(s));
  ASSERT_THAT(s.abort(), IsOk());
  EXPECT_THAT(waiter.join(), HasCode(code::stream_abort));
  EXPECT_THAT(s.synchronize(), IsOk()) << "begins after the abort";
  EXPECT_FALSE(ran);
  EXPECT_EQ(s.counters().dropped, 10U);
  EXPECT_EQ(s.counters().completed, 11U);
  EXPECT_EQ(s.counters().failed, 0U);
}

TEST_F(true_outcomes, decision_10_what_stop_mode_drops_is_counted) {
  ASSERT_THAT(s.set_failure_mode(failure_mode::stop), IsOk());
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.launch("bad", &fail), IsOk());
  for (int i = 0; i < 3; ++i) ASSERT_THAT(s.launch("dropped", [] {}), IsOk());
  hold.raise();
  EXPECT_THAT(s.synchronize(), HasCode(code::kernel_exception));
  await_idle(s); // who waits is let go before what is dropped has been counted
  EXPECT_EQ(s.counters().dropped, 3U);
  EXPECT_EQ(s.counters().failed, 1U);
}

// -- a context's synchronise ----------------------------------------------------

TEST_F(true_outcomes, B7_a_context_reports_its_streams_failures_one_by_one_as_they_came) {
  auto third = ctx.create_stream().value();
  ASSERT_THAT(other.launch("first", &fail), IsOk());
  await_idle(other);
  ASSERT_THAT(s.launch("second", &fail), IsOk());
  await_idle(s);
  ASSERT_THAT(third.launch("third", &fail), IsOk());
  EXPECT_THAT(ctx.synchronize(), SaysThat("'first'"));
  EXPECT_THAT(third.synchronize(), SaysThat("'third'")) << "left for its own stream";
  EXPECT_THAT(ctx.synchronize(), SaysThat("'second'"));
  EXPECT_THAT(ctx.synchronize(), IsOk());
  EXPECT_THAT(other.synchronize(), IsOk()) << "reported once";
}

TEST_F(true_outcomes, B7_a_contexts_wait_that_expires_takes_no_failure) {
  ASSERT_THAT(s.launch("bad", &fail), IsOk());
  await_idle(s);
  ASSERT_THAT(other.wait(hold), IsOk());
  EXPECT_THAT(ctx.synchronize(1ms), HasCode(code::stream_sync_timeout));
  EXPECT_THAT(s.synchronize(), SaysThat("'bad'"));
  hold.raise();
}

TEST_F(true_outcomes, B7_a_contexts_wait_that_an_abort_ends_takes_no_failure) {
  ASSERT_THAT(s.launch("bad", &fail), IsOk());
  await_idle(s);
  ASSERT_THAT(other.wait(hold), IsOk());
  side_thread waiter([&] { return ctx.synchronize(); });
  ASSERT_TRUE(waiter.waits_for(other));
  ASSERT_THAT(other.abort(), IsOk());
  EXPECT_THAT(waiter.join(), HasCode(code::stream_abort));
  EXPECT_THAT(s.synchronize(), SaysThat("'bad'"));
}

// -- the end of a stream or context -----------------------------------------------

TEST_F(true_outcomes, J5_plain_destroy_reports_the_failure_that_nobody_was_told_of) {
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.launch("bad", &fail), IsOk());
  ASSERT_THAT(s.launch("worse", &fail), IsOk());
  hold.raise();
  const auto outcome = s.destroy();
  EXPECT_THAT(outcome, HasCode(code::kernel_exception));
  EXPECT_THAT(outcome, SaysThat("'bad'"));
  EXPECT_THAT(s.launch("late", [] {}), HasCode(code::invalid_handle)) << "destroyed all the same";
  EXPECT_THAT(ctx.synchronize(), IsOk()) << "reported once";
}

TEST_F(true_outcomes, J5_plain_destroy_of_a_stream_whose_failure_was_told_succeeds) {
  ASSERT_THAT(s.launch("bad", &fail), IsOk());
  ASSERT_THAT(s.synchronize(), HasCode(code::kernel_exception));
  EXPECT_THAT(s.destroy(), IsOk());
}

TEST_F(true_outcomes, J5_plain_destroy_says_that_an_abort_dropped_its_work) {
  const auto record = s.state()->record;
  ASSERT_THAT(s.wait(hold), IsOk());
  side_thread destroyer([&] { return s.destroy(); });
  ASSERT_TRUE(destroyer.waits_for(s));
  await([&] { return record->closed(); });
  record->abort(); // a closed stream takes no abort by its handle
  EXPECT_THAT(destroyer.join(), HasCode(code::stream_abort));
}

TEST_F(true_outcomes, F4_destroying_a_stream_of_a_context_that_failed_in_stop_mode_succeeds) {
  ASSERT_THAT(s.set_failure_mode(failure_mode::stop), IsOk());
  ASSERT_THAT(s.launch("bad", &fail), IsOk());
  await_idle(s);
  EXPECT_THAT(s.destroy(), IsOk());
  EXPECT_THAT(other.destroy(), IsOk());
  EXPECT_THAT(ctx.health(), SaysThat("'bad'")) << "the context tells";
}

TEST_F(true_outcomes, J5_failures_of_streams_ended_by_their_last_handle_go_to_the_context) {
  for (const char* name : {"one", "two"}) {
    auto orphan = ctx.create_stream().value();
    const auto record = orphan.state()->record;
    ASSERT_THAT(orphan.launch(std::string_view(name), &fail), IsOk());
    orphan = stream();
    const auto known = [&] {
      const auto all = ctx.state()->record->streams();
      return std::find(all.begin(), all.end(), record) != all.end();
    };
    await([&] { return !known(); });
  }
  ASSERT_THAT(s.launch("three", &fail), IsOk());
  EXPECT_THAT(ctx.synchronize(), SaysThat("'one'"));
  EXPECT_THAT(ctx.synchronize(), SaysThat("'two'"));
  EXPECT_THAT(ctx.synchronize(), SaysThat("'three'"));
  EXPECT_THAT(ctx.synchronize(), IsOk());
}

TEST_F(true_outcomes, F2_an_event_tells_of_a_failure_after_its_stream_is_gone) {
  const auto before = ctx.create_event().value();
  const auto after = ctx.create_event().value();
  auto orphan = ctx.create_stream().value();
  ASSERT_THAT(orphan.launch("fine", [] {}), IsOk());
  ASSERT_THAT(orphan.record(before), IsOk());
  ASSERT_THAT(orphan.launch("bad", &fail), IsOk());
  ASSERT_THAT(orphan.record(after), IsOk());
  orphan = stream();
  await([&] { return dev.counters().streams == 3; }); // default, `s` and `other`
  EXPECT_THAT(before.synchronize(), IsOk());
  EXPECT_THAT(after.synchronize(), SaysThat("'bad'"));
  EXPECT_THAT(ctx.synchronize(), SaysThat("'bad'"));
  EXPECT_THAT(after.synchronize(), IsOk()) << "it was reported";
}

TEST_F(true_outcomes, A3_a_reset_reports_the_failure_of_the_work_it_waited_for) {
  for (const bool force : {false, true}) {
    ASSERT_THAT(rt.set_device(0), IsOk());
    auto unnamed = current::default_stream().value();
    ASSERT_THAT(unnamed.launch("bad", &fail), IsOk());
    EXPECT_THAT(rt.reset_device(0, force), SaysThat("'bad'"));
    EXPECT_THAT(rt.reset_device(0, force), HasCode(code::context_released)) << "reset it is";
    current::unbind();
  }
}

// -- what a task may throw -------------------------------------------------------

TEST_F(true_outcomes, F1_a_task_that_throws_a_success_has_failed) {
  ASSERT_THAT(s.launch("happy", [] { throw error(status{}); }), IsOk());
  const auto kernel = s.synchronize();
  EXPECT_THAT(kernel, HasCode(code::kernel_exception));
  EXPECT_THAT(kernel, SaysThat("threw an error whose code is success"));
  ASSERT_THAT(s.launch({"split", 8}, [] { throw error(code::success, "all is well"); }), IsOk());
  EXPECT_THAT(s.synchronize(), SaysThat("whose code is success: all is well"));
  ASSERT_THAT(s.callback("happy", [] { throw error(code::success, "all is well"); }), IsOk());
  EXPECT_THAT(s.synchronize(), HasCode(code::internal_error));
}

struct wordless : std::exception {
  const char* what() const noexcept override { return nullptr; }
};

TEST_F(true_outcomes, F1_a_task_that_throws_an_exception_without_a_text_has_failed) {
  ASSERT_THAT(s.launch("wordless", [] { throw wordless(); }), IsOk());
  EXPECT_THAT(s.synchronize(), SaysThat("'wordless' threw: an exception without a text"));
}

// -- fills ----------------------------------------------------------------------

TEST_F(true_outcomes, D1_a_fill_of_a_view_that_names_no_context_is_done) {
  auto memory = ctx.allocate<unsigned char>(64, initial::cleared).value();
  const device_span<unsigned char> view(memory.data(), memory.size(), 0);
  ASSERT_THAT(s.fill_bytes(view, 7), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  std::vector<unsigned char> seen(64);
  ASSERT_THAT(ctx.copy(seen, memory), IsOk());
  EXPECT_EQ(seen, std::vector<unsigned char>(64, 7));
}

} // namespace
} // namespace troupe
