// The queue of a stream: its depth and what happens when it is full (J3), a flood (L7), and an
// abort that meets many waiting commands (L8).

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/sanitizers.hpp"
#include "tests/behaviour/side_thread.hpp"

namespace troupe {
namespace {

constexpr unsigned depth = 16;

class queues : public stage_test {
protected:
  explicit queues(runtime_options options = patient_options()) : stage_test(std::move(options)) {}

  // A stream that holds as many commands as it may: a wait and 15 counting tasks.
  stream full_stream() {
    auto made = ctx.create_stream({.priority = 4, .queue_depth = depth}).value();
    EXPECT_THAT(made.wait(hold), IsOk());
    for (unsigned i = 1; i < depth; ++i) {
      EXPECT_THAT(made.launch("count", [this] { ++ran; }), IsOk());
    }
    return made;
  }

  signal hold = rt.create_signal();
  std::atomic<unsigned> ran = 0;
};

TEST_F(queues, J3_submission_to_a_full_stream_waits_and_goes_on_when_there_is_room) {
  auto narrow = full_stream();
  side_thread submitting([&] { return narrow.launch("one more", [this] { ++ran; }); });
  ASSERT_TRUE(submitting.waits_for(narrow));
  EXPECT_EQ(narrow.counters().submitted, depth);
  hold.raise();
  EXPECT_THAT(submitting.join(), IsOk());
  EXPECT_THAT(narrow.synchronize(), IsOk());
  EXPECT_EQ(ran, depth);
}

TEST_F(queues, J3_abort_and_query_get_through_a_full_queue_and_release_the_submitter) {
  auto narrow = full_stream();
  std::atomic<bool> refused_ran = false;
  side_thread submitting([&] { return narrow.launch("one more", [&] { refused_ran = true; }); });
  ASSERT_TRUE(submitting.waits_for(narrow));
  EXPECT_FALSE(narrow.query().value());
  ASSERT_THAT(narrow.abort(), IsOk());
  EXPECT_THAT(submitting.join(), HasCode(code::stream_abort));
  ASSERT_THAT(narrow.launch("after", [this] { ++ran; }), IsOk());
  EXPECT_THAT(narrow.synchronize(), IsOk());
  EXPECT_EQ(ran, 1U);
  EXPECT_FALSE(refused_ran);
}

TEST_F(queues, J3_forced_destroy_releases_the_submitter) {
  auto narrow = full_stream();
  side_thread submitting([&] { return narrow.launch("one more", [] {}); });
  ASSERT_TRUE(submitting.waits_for(narrow));
  ASSERT_THAT(narrow.destroy(true), IsOk());
  const auto outcome = submitting.join();
  EXPECT_TRUE(outcome.code() == code::stream_abort || outcome.code() == code::invalid_handle)
      << outcome.describe();
}

class hasty_queues : public queues {
protected:
  hasty_queues() : queues([] {
    auto made = patient_options();
    made.submit_timeout_ms = 1;
    return made;
  }()) {}
};

TEST_F(hasty_queues, J3_queue_that_stays_full_is_a_resource_failure_that_names_its_depth) {
  auto narrow = full_stream();
  const auto outcome = narrow.launch("one more", [this] { ++ran; });
  EXPECT_THAT(outcome, HasCode(code::queue_full));
  EXPECT_THAT(outcome, SaysThat("holds 16 commands"));
  ASSERT_TRUE(outcome.record() && outcome.record()->lacking);
  EXPECT_EQ(outcome.record()->lacking->resource, "queued commands");
  EXPECT_EQ(outcome.record()->lacking->limit, depth);
  EXPECT_EQ(outcome.record()->stream, narrow.id());
  hold.raise();
  EXPECT_THAT(narrow.synchronize(), IsOk());
  EXPECT_EQ(ran, depth - 1) << "what was accepted is never dropped, what was refused never runs";
  EXPECT_THAT(narrow.launch("again", [] {}), IsOk());
}

TEST_F(queues, J3_queue_depth_outside_its_limits_is_refused) {
  for (const auto wanted : {1U, runtime_options::queue_depth_max + 1, UINT32_MAX}) {
    const auto refused = ctx.create_stream({4, wanted}).error();
    EXPECT_THAT(refused, HasCode(code::invalid_parameter));
    EXPECT_THAT(refused, SaysThat("queue depth " + std::to_string(wanted)));
    EXPECT_THAT(refused, SaysThat("from 2 to 1048576"));
  }
  for (const auto wanted : {0U, 2U, runtime_options::queue_depth_max}) {
    EXPECT_THAT(ctx.create_stream({4, wanted}), IsOk()) << wanted;
  }
}

// One command in a hundred is left when the abort must be back: those hold until it is.
TEST_F(queues, L7_abort_overtakes_a_flood_and_the_queue_stays_small) {
  LIVE_ONLY("its kernels wait for the test");
  constexpr std::uint64_t flood = sanitized ? 100'000 : 1'000'000;
  constexpr unsigned deep = 1'000;
  constexpr std::size_t bytes_max = 4 * deep * sizeof(command);
  auto wide = ctx.create_stream({.priority = 4, .queue_depth = deep}).value();
  gate aborted;
  std::atomic<bool> abort_back = false;
  std::atomic<std::uint64_t> processed = 0;
  side_thread aborting([&] {
    await([&] { return processed.load() >= flood / 2; });
    auto outcome = wide.abort();
    abort_back = true;
    aborted.open();
    return outcome;
  });
  const auto work = [&] {
    if (++processed >= flood / 100 * 99 - deep && !abort_back) aborted.pass();
  };
  std::size_t most_bytes = 0;
  std::uint64_t released = 0;
  for (std::uint64_t i = 0; i < flood; ++i) {
    const auto outcome = wide.launch("drop in the sea", work);
    if (outcome.code() == code::stream_abort) ++released;
    ASSERT_TRUE(outcome.ok() || outcome.code() == code::stream_abort) << outcome.describe();
    if (i % 1'000 == 0) most_bytes = std::max(most_bytes, wide.counters().queue_bytes);
  }
  EXPECT_THAT(aborting.join(), IsOk());
  const auto end = wide.synchronize();
  EXPECT_THAT(end, IsOk());
  EXPECT_LE(released, 1U);
  EXPECT_LE(most_bytes, bytes_max);
  while (wide.counters().queue_bytes > command_queue::storage_kept_bytes) {
    std::this_thread::yield(); // storage goes back when the stream comes to rest
  }
  EXPECT_EQ(wide.counters().completed, flood - released);
  EXPECT_GE(processed, flood - released - deep) << "an abort drops no more than a queue can hold";
}

TEST_F(queues, L8_nothing_that_waits_behind_a_running_task_begins_after_the_abort_is_back) {
  LIVE_ONLY("its kernels wait for the test");
  gate door;
  ASSERT_THAT(s.launch("running", [&] { door.pass(); }), IsOk());
  door.await_arrivals();
  for (int i = 0; i < 100; ++i) ASSERT_THAT(s.launch("waiting", [this] { ++ran; }), IsOk());
  ASSERT_THAT(s.abort(), IsOk());
  ASSERT_THAT(s.launch("after", [] {}), IsOk());
  door.open();
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(ran, 0U);
  EXPECT_EQ(s.counters().completed, 102U);
}

// Wherever the abort falls: what ran is a prefix, and at most one task, which had been begun when
// the abort came, sees it return; that one is told to stop.
TEST_F(queues, L8_abort_cuts_a_stream_in_two) {
  constexpr std::size_t tasks = 100;
  for (int round = 0; round < (sanitized ? 20 : 200); ++round) {
    std::vector<std::atomic<int>> begun(tasks);
    std::atomic<bool> abort_back = false;
    std::atomic<int> late = 0;
    std::atomic<int> late_untold = 0;
    for (std::size_t i = 0; i < tasks; ++i) {
      const auto run = [&, i](block b) {
        begun[i] = 1;
        if (!abort_back) return;
        ++late;
        if (!b.stop_requested()) ++late_untold;
      };
      ASSERT_THAT(s.launch("task", run), IsOk());
    }
    while (static_cast<int>(s.counters().completed % tasks) < round % 20) {
      if (s.query().value()) break;
    }
    ASSERT_THAT(s.abort(), IsOk());
    abort_back = true;
    ASSERT_THAT(s.synchronize(), IsOk());
    std::size_t length = 0;
    while (length < tasks && begun[length] == 1) ++length;
    for (auto i = length; i < tasks; ++i) {
      ASSERT_EQ(begun[i], 0) << "task " << i << " of " << length;
    }
    ASSERT_LE(late, 1);
    ASSERT_EQ(late_untold, 0);
  }
}

} // namespace
} // namespace troupe
