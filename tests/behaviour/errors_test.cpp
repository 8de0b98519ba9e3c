// Where failures of tasks show and what they tell: F1, F2.

#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "actors/stream_record.hpp"
#include "tests/support/stage.hpp"

namespace troupe {
namespace {

class errors : public stage_test {
protected:
  static constexpr std::size_t tasks = 10;

  // Ten named tasks, task 1 to task 10, held back until all are queued; `codes[i]` is what task
  // i + 1 fails with.
  void submit_ten(const std::array<code, tasks>& codes) {
    const auto hold = rt.create_signal();
    ASSERT_THAT(s.wait(hold), IsOk());
    for (std::size_t i = 0; i < tasks; ++i) {
      const auto name = "task_" + std::to_string(i + 1);
      const auto run = [this, i, what = codes[i]] {
        ++runs[i];
        if (what != code::success) throw error(what, "on purpose");
      };
      ASSERT_THAT(s.launch(std::string_view(name), run), IsOk());
    }
    hold.raise();
  }

  [[nodiscard]] std::vector<int> ran() const { return {runs.begin(), runs.end()}; }

  std::array<std::atomic<int>, tasks> runs = {};
};

constexpr auto fine = code::success;

TEST_F(errors, F1_failure_surfaces_at_the_synchronise_of_its_stream_and_names_its_task) {
  auto other = ctx.create_stream().value();
  ASSERT_NO_FATAL_FAILURE(submit_ten({fine, fine, fine, code::kernel_exception}));
  ASSERT_THAT(other.launch("innocent", [] {}), IsOk());
  const auto outcome = s.synchronize();
  EXPECT_THAT(outcome, HasCode(code::kernel_exception));
  ASSERT_TRUE(outcome.record());
  EXPECT_EQ(outcome.record()->task_name, "task_4");
  EXPECT_EQ(outcome.record()->task_number, 5U) << "the wait in front is number 1";
  EXPECT_EQ(outcome.record()->stream, s.id());
  EXPECT_EQ(outcome.record()->context, ctx.id());
  EXPECT_EQ(outcome.record()->device, 0U);
  EXPECT_NE(outcome.record()->thread, 0U);
  EXPECT_NE(std::string(outcome.record()->site.file).find("errors_test.cpp"), std::string::npos);
  EXPECT_THAT(outcome, SaysThat("task_4"));
  EXPECT_THAT(outcome, SaysThat("on purpose"));
  EXPECT_THAT(other.synchronize(), IsOk());
  EXPECT_EQ(ran(), std::vector<int>(tasks, 1)) << "later tasks run";
}

TEST_F(errors, F1_submission_after_a_failure_is_not_blamed_for_it) {
  ASSERT_NO_FATAL_FAILURE(submit_ten({code::kernel_timeout}));
  await([&] { return s.query().value(); });
  EXPECT_THAT(s.launch("innocent", [] {}), IsOk());
  std::vector<int> host(4, 1);
  auto target = ctx.allocate<int>(4).value();
  EXPECT_THAT(s.copy(target, host), IsOk());
  EXPECT_THAT(s.query(), IsOk());
  EXPECT_THAT(s.synchronize(), HasCode(code::kernel_timeout));
  EXPECT_THAT(s.synchronize(), IsOk()) << "reported once";
}

TEST_F(errors, F1_kernel_may_throw_anything_or_return_its_failure) {
  ASSERT_THAT(s.launch("standard", [] { throw std::runtime_error("plain words"); }), IsOk());
  const auto standard = s.synchronize();
  EXPECT_THAT(standard, HasCode(code::kernel_exception));
  EXPECT_THAT(standard, SaysThat("plain words"));
  ASSERT_THAT(s.launch("odd", [] { throw 7; }), IsOk());
  EXPECT_THAT(s.synchronize(), HasCode(code::kernel_exception));
  ASSERT_THAT(s.launch("honest", [] { return make_status(code::kernel_timeout, "too slow"); }),
              IsOk());
  EXPECT_THAT(s.synchronize(), HasCode(code::kernel_timeout));
}

TEST_F(errors, F1_failure_of_one_block_fails_the_launch) {
  std::atomic<unsigned> blocks = 0;
  const auto run = [&blocks](block b) {
    ++blocks;
    if (b.index == 3) throw error(code::kernel_timeout, "block 3");
  };
  ASSERT_THAT(s.launch({"split", 16}, run), IsOk());
  EXPECT_THAT(s.synchronize(), HasCode(code::kernel_timeout));
  EXPECT_GE(blocks.load(), 4U) << "blocks are taken in ascending order";
  EXPECT_LE(blocks.load(), 16U);
}

TEST_F(errors, F2_continue_mode_reports_the_first_and_lists_all_in_order) {
  ASSERT_NO_FATAL_FAILURE(
      submit_ten({fine, code::kernel_timeout, fine, fine, code::kernel_exception}));
  const auto outcome = s.synchronize();
  EXPECT_THAT(outcome, HasCode(code::kernel_timeout));
  EXPECT_THAT(outcome, SaysThat("task_2"));
  EXPECT_THAT(s.synchronize(), IsOk()) << "reporting clears";
  const auto chain = s.failures();
  ASSERT_EQ(chain.size(), 2U);
  EXPECT_THAT(chain[0], HasCode(code::kernel_timeout));
  EXPECT_THAT(chain[0], SaysThat("task_2"));
  EXPECT_THAT(chain[1], HasCode(code::kernel_exception));
  EXPECT_THAT(chain[1], SaysThat("task_5"));
  EXPECT_EQ(ran(), std::vector<int>(tasks, 1));
  EXPECT_EQ(s.counters().failed, 2U);
}

TEST_F(errors, F2_stop_mode_keeps_the_first_cause_and_runs_nothing_after_it) {
  auto other = ctx.create_stream().value();
  auto neighbour = dev.create_context().value();
  auto next_door = neighbour.create_stream().value();
  ASSERT_THAT(s.set_failure_mode(failure_mode::stop), IsOk());
  ASSERT_NO_FATAL_FAILURE(
      submit_ten({fine, code::kernel_timeout, fine, fine, code::kernel_exception}));
  for (int again = 0; again < 3; ++again) {
    const auto outcome = s.synchronize();
    EXPECT_THAT(outcome, HasCode(code::kernel_timeout));
    EXPECT_THAT(outcome, SaysThat("task_2"));
    EXPECT_THAT(s.launch("later", [] {}), HasCode(code::kernel_timeout));
    EXPECT_THAT(other.launch("elsewhere", [] {}), HasCode(code::kernel_timeout));
    EXPECT_THAT(other.synchronize(), HasCode(code::kernel_timeout));
    EXPECT_THAT(ctx.default_stream().value().launch("default", [] {}),
                HasCode(code::kernel_timeout));
  }
  EXPECT_EQ(ran(), (std::vector<int>{1, 1, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_THAT(ctx.health(), SaysThat("task_2"));
  EXPECT_EQ(s.failures().size(), 1U);
  EXPECT_THAT(next_door.launch("fine", [] {}), IsOk());
  EXPECT_THAT(next_door.synchronize(), IsOk());
  EXPECT_THAT(neighbour.health(), IsOk());
}

TEST_F(errors, F2_stop_mode_holds_for_the_context_and_cannot_be_taken_back) {
  auto other = ctx.create_stream().value();
  EXPECT_THAT(s.set_failure_mode(failure_mode::go_on), IsOk());
  ASSERT_THAT(s.set_failure_mode(failure_mode::stop), IsOk());
  EXPECT_THAT(other.set_failure_mode(failure_mode::go_on), HasCode(code::not_supported));
  ASSERT_THAT(other.launch("fail", [] { throw error(code::kernel_timeout, "first"); }), IsOk());
  EXPECT_THAT(other.synchronize(), HasCode(code::kernel_timeout));
  EXPECT_THAT(s.launch("later", [] {}), HasCode(code::kernel_timeout));
  EXPECT_THAT(ctx.destroy(), IsOk()) << "cleaning up still works";
}

// Whichever thread receives the code can read the story behind it.
TEST_F(errors, F2_the_text_of_a_failure_reaches_the_thread_that_waits) {
  ASSERT_NO_FATAL_FAILURE(submit_ten({fine, code::kernel_exception}));
  status seen;
  test_thread([&] { seen = s.synchronize(); }).join();
  EXPECT_THAT(seen, HasCode(code::kernel_exception));
  EXPECT_FALSE(seen.message().empty());
  EXPECT_THAT(seen, SaysThat("task_2"));
}

class many_errors : public errors {
protected:
  // Tasks `first` to `last`, each of which fails.
  void fail_each(int first, int last) {
    for (int i = first; i <= last; ++i) {
      const auto name = "task_" + std::to_string(i);
      ASSERT_THAT(s.launch(std::string_view(name), [] { throw 1; }), IsOk());
    }
  }

  void expect_failures_of(const std::vector<int>& tasks_expected) {
    const auto all = s.failures();
    ASSERT_EQ(all.size(), tasks_expected.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(all[i].record()->task_name, "task_" + std::to_string(tasks_expected[i]));
    }
  }
};

TEST_F(many_errors, F2_of_100_unreported_failures_the_first_32_and_the_newest_32_are_kept) {
  ASSERT_NO_FATAL_FAILURE(fail_each(0, 99));
  await([&] { return s.query().value(); });
  std::vector<int> kept;
  for (int i = 0; i < 32; ++i) kept.push_back(i);
  for (int i = 68; i < 100; ++i) kept.push_back(i);
  expect_failures_of(kept);
  EXPECT_EQ(s.counters().failed, 100U);
  EXPECT_THAT(s.synchronize(), SaysThat("task_0'")) << "the first cause survives";
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(many_errors, F2_an_event_tells_the_first_cause_however_many_failures_came_after_it) {
  const auto before = ctx.create_event().value();
  const auto after = ctx.create_event().value();
  ASSERT_THAT(s.launch("fine", [] {}), IsOk());
  ASSERT_THAT(s.record(before), IsOk());
  ASSERT_NO_FATAL_FAILURE(fail_each(0, 0));
  ASSERT_THAT(s.record(after), IsOk());
  ASSERT_NO_FATAL_FAILURE(fail_each(1, 200));
  await([&] { return s.query().value(); });
  EXPECT_THAT(before.synchronize(), IsOk());
  EXPECT_THAT(after.synchronize(), SaysThat("task_0'"));
  EXPECT_THAT(s.synchronize(), SaysThat("task_0'"));
  EXPECT_THAT(after.synchronize(), IsOk()) << "it was reported";
}

TEST_F(many_errors, F2_reported_failures_make_room_first) {
  ASSERT_NO_FATAL_FAILURE(fail_each(0, 39));
  EXPECT_THAT(s.synchronize(), SaysThat("task_0'"));
  ASSERT_NO_FATAL_FAILURE(fail_each(40, 99));
  await([&] { return s.query().value(); });
  std::vector<int> kept;
  for (int i = 36; i < 100; ++i) kept.push_back(i);
  expect_failures_of(kept);
  EXPECT_THAT(s.synchronize(), SaysThat("task_40'"));
}

TEST_F(many_errors, F2_a_wait_takes_no_failure_of_work_submitted_after_it) {
  LIVE_ONLY("its kernels wait for the test");
  gate first;
  ASSERT_THAT(s.callback("hold", [&] { first.pass(); }), IsOk());
  ASSERT_NO_FATAL_FAILURE(fail_each(0, 0));
  status outcome;
  test_thread waiter([&] { outcome = s.synchronize(); });
  await([&] { return s.state()->record->line()->awaited(); });
  ASSERT_NO_FATAL_FAILURE(fail_each(1, 1));
  first.open();
  waiter.join();
  EXPECT_THAT(outcome, SaysThat("task_0'"));
  EXPECT_THAT(s.synchronize(), SaysThat("task_1'"));
}

} // namespace
} // namespace troupe
