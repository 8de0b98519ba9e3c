// Who is told of each failed task, on which thread, and until when.

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/support/stage.hpp"

namespace troupe {
namespace {

class failure_told : public stage_test {
protected:
  void fail(const char* name) {
    ASSERT_THAT(s.launch(task(std::string_view(name)),
                         [] { throw error(code::kernel_timeout, "made to"); }),
                IsOk());
  }
};

TEST_F(failure_told, F1_a_listener_gets_task_stream_device_thread_and_code_of_each_in_order) {
  std::mutex guard;
  std::vector<error_record> told;
  std::atomic<std::size_t> count = 0;
  const auto number = rt.add_failure_listener([&](const error_record& failure) {
    const std::lock_guard lock(guard);
    told.push_back(failure);
    ++count;
  });
  ASSERT_THAT(number, IsOk());
  fail("first");
  ASSERT_THAT(s.launch("well", [] {}), IsOk());
  fail("second");
  EXPECT_THAT(s.synchronize(), HasCode(code::kernel_timeout));
  await([&] { return count == 2; });
  EXPECT_THAT(rt.remove_failure_listener(number.value(), true), IsOk()); // its last call has ended
  EXPECT_EQ(told[0].task_name, "first");
  EXPECT_EQ(told[1].task_name, "second");
  for (const auto& each : told) {
    EXPECT_EQ(each.what, code::kernel_timeout);
    EXPECT_EQ(each.device, 0U);
    EXPECT_EQ(each.context, ctx.id());
    EXPECT_EQ(each.stream, s.id());
    EXPECT_NE(each.thread, 0U);
    EXPECT_NE(each.site.line, 0U);
  }
  EXPECT_EQ(told[1].task_number, 3U);
}

TEST_F(failure_told, I4_once_taken_away_a_listener_is_called_no_more) {
  std::atomic<int> calls = 0;
  const auto number = rt.add_failure_listener([&](const error_record&) { ++calls; }).value();
  fail("told");
  (void)s.synchronize();
  await([&] { return calls == 1; });
  EXPECT_THAT(rt.remove_failure_listener(number), IsOk());
  EXPECT_THAT(rt.remove_failure_listener(number), HasCode(code::invalid_handle));
  fail("not told");
  (void)s.synchronize();
  const auto other = rt.add_failure_listener([](const error_record&) {}).value();
  EXPECT_THAT(rt.remove_failure_listener(other, true), IsOk()); // all that was under way has ended
  EXPECT_EQ(calls, 1);
}

TEST_F(failure_told, I4_taking_it_away_waits_for_a_call_under_way_only_if_told_to) {
  LIVE_ONLY("its listener waits for the test");
  gate door;
  std::atomic<bool> over = false;
  const auto slow = [&](const error_record&) {
    door.pass();
    over = true;
  };
  const auto first = rt.add_failure_listener(slow).value();
  fail("told");
  door.await_arrivals();
  EXPECT_THAT(rt.remove_failure_listener(first), IsOk());
  EXPECT_FALSE(over) << "the plain one does not wait";
  const auto second = rt.add_failure_listener(slow).value();
  test_thread waits([&] {
    EXPECT_THAT(rt.remove_failure_listener(second, true), IsOk());
    EXPECT_TRUE(over);
  });
  EXPECT_THAT(s.launch("work", [] {}), IsOk()) << "a slow listener holds nothing up";
  EXPECT_THAT(s.synchronize(), HasCode(code::kernel_timeout));
  door.open();
  waits.join();
}

TEST_F(failure_told, I3_at_the_limit_of_listeners_the_next_is_refused_and_the_others_work_on) {
  std::atomic<std::size_t> calls = 0;
  std::vector<std::uint64_t> all;
  for (auto next = rt.add_failure_listener([&](const error_record&) { ++calls; }); next;
       next = rt.add_failure_listener([&](const error_record&) { ++calls; })) {
    all.push_back(next.value());
    ASSERT_LE(all.size(), 100U);
  }
  const auto refused = rt.add_failure_listener([](const error_record&) {});
  EXPECT_THAT(refused, HasCode(code::over_limit));
  EXPECT_EQ(refused.error().record()->lacking->limit, all.size());
  fail("told");
  (void)s.synchronize();
  await([&] { return calls == all.size(); });
  EXPECT_THAT(rt.remove_failure_listener(all[0]), IsOk());
  EXPECT_THAT(rt.add_failure_listener([](const error_record&) {}), IsOk());
  EXPECT_THAT(rt.add_failure_listener(nullptr), HasCode(code::bad_argument));
}

TEST_F(failure_told, I3_failures_beyond_those_that_may_wait_are_missed_and_later_ones_told) {
  LIVE_ONLY("its listener waits for the test");
  gate door;
  std::atomic<std::size_t> count = 0;
  ASSERT_THAT(rt.add_failure_listener([&](const error_record&) {
                door.pass();
                ++count;
              }),
              IsOk());
  fail("told");
  door.await_arrivals();
  for (int i = 0; i < 1'100; ++i) {
    fail("waits or is missed");
    (void)s.synchronize();
  }
  door.open();
  const auto other = rt.add_failure_listener([](const error_record&) {}).value();
  ASSERT_THAT(rt.remove_failure_listener(other, true), IsOk()); // after all that waited
  EXPECT_EQ(count, 1 + 1'024U);
  fail("told again");
  await([&] { return count == 1 + 1'024U + 1; });
}

TEST_F(failure_told, I5_what_a_listener_throws_or_may_not_call_harms_nobody) {
  std::atomic<int> calls = 0;
  std::atomic<int> beside = 0;
  std::atomic<bool> refused = false;
  ASSERT_THAT(rt.add_failure_listener([&](const error_record&) {
                refused = ctx.create_stream().code() == code::not_supported;
                ++calls;
                throw std::runtime_error("from a listener");
              }),
              IsOk());
  ASSERT_THAT(rt.add_failure_listener([&](const error_record&) { ++beside; }), IsOk());
  fail("one");
  fail("two");
  (void)s.synchronize();
  await([&] { return calls == 2; });
  EXPECT_TRUE(refused);
  await([&] { return beside == 2; });
  EXPECT_THAT(s.launch("work", [] {}), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
}

} // namespace
} // namespace troupe
