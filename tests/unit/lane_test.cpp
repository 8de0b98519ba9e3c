#include "actors/scheduling/lane.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <caf/resumable.hpp>
#include <gtest/gtest.h>

#include "actors/scheduling/completion.hpp"
#include "actors/user_scope.hpp"
#include "tests/support/stage.hpp"

namespace troupe {
namespace {

// A job that calls a function; the lane only hands it to its hooks.
class job final : public caf::resumable {
public:
  explicit job(std::function<void()> work) : work_(std::move(work)) {}
  subtype_t subtype() const override { return unspecified; }
  resume_result resume(caf::execution_unit*, std::size_t) override {
    work_();
    return done;
  }
  void intrusive_ptr_add_ref_impl() override {}
  void intrusive_ptr_release_impl() override {}

private:
  std::function<void()> work_;
};

class lane_test : public ::testing::Test {
protected:
  std::shared_ptr<lane> make(unsigned threads_max) {
    lane::hooks hooks;
    hooks.run = [this](caf::resumable* each) {
      {
        const std::lock_guard lock(guard);
        const auto me = std::this_thread::get_id();
        if (std::find(threads.begin(), threads.end(), me) == threads.end()) threads.push_back(me);
      }
      each->resume(nullptr, 1);
    };
    hooks.drop = [this](caf::resumable*) { ++dropped; };
    hooks.make_thread = [this](std::function<void()> body) {
      if (refuse_threads) {
        throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
      }
      ++alive;
      return std::thread([this, serve = std::move(body)] {
        serve();
        --alive;
      });
    };
    return std::make_shared<lane>("test", threads_max, hooks);
  }
  static time_ns soon() { return steady_clock().now() + 1'000'000; }

  std::mutex guard;
  std::vector<std::thread::id> threads;
  std::atomic<int> dropped = 0;
  std::atomic<int> alive = 0; // threads
  std::atomic<bool> refuse_threads = false;
};

TEST_F(lane_test, makes_threads_on_demand_and_no_more_than_allowed) {
  const auto l = make(2);
  gate door;
  job waits([&] { door.pass(); });
  completion last;
  job ends([&] { last.set(); });
  l->push(&waits);
  door.await_arrivals(1);
  l->push(&waits);
  door.await_arrivals(2);
  l->push(&ends); // both threads are taken
  EXPECT_TRUE(l->has_work());
  door.open();
  EXPECT_TRUE(last.block_until(never_ns));
  l->stop();
  EXPECT_EQ(l->join(never_ns), 0U);
  EXPECT_EQ(threads.size(), 2U);
}

TEST_F(lane_test, one_thread_serves_jobs_one_after_another) {
  const auto l = make(4);
  for (int i = 0; i < 3; ++i) {
    completion ended;
    job each([&] { ended.set(); });
    l->push(&each);
    EXPECT_TRUE(ended.block_until(never_ns));
  }
  l->stop();
  EXPECT_EQ(l->join(never_ns), 0U);
  EXPECT_GE(threads.size(), 1U);
  EXPECT_LE(threads.size(), 3U);
}

TEST_F(lane_test, leaves_a_job_to_a_pusher_that_promised_to_run_it) {
  const auto l = make(1);
  job never([] { FAIL() << "run by a thread of the lane"; });
  EXPECT_EQ(l->try_pop(), nullptr);
  l->push(&never, false);
  EXPECT_TRUE(l->has_work());
  EXPECT_EQ(l->try_pop(), &never);
  EXPECT_FALSE(l->has_work());
  completion ended;
  job settled([&] { ended.set(); });
  l->push(&settled, false);
  l->settle(); // the promise ends
  EXPECT_TRUE(ended.block_until(never_ns));
  l->stop();
  EXPECT_EQ(l->join(never_ns), 0U);
}

TEST_F(lane_test, allows_a_thread_in_place_of_a_stuck_one) {
  const auto l = make(1);
  gate door;
  job stuck([&] { door.pass(); });
  completion ended;
  job other([&] { ended.set(); });
  l->push(&stuck);
  door.await_arrivals();
  l->push(&other);
  EXPECT_TRUE(l->replace_thread());
  EXPECT_TRUE(ended.block_until(never_ns)); // while the first is still inside
  door.open();
  l->stop();
  EXPECT_EQ(l->join(never_ns), 0U);
}

TEST_F(lane_test, ends_the_threads_that_are_too_many_once_stuck_ones_have_come_back) {
  constexpr int stuck_count = 3;
  const auto l = make(1);
  gate door;
  std::atomic<int> returned = 0;
  job stuck([&] {
    door.pass();
    l->thread_returned();
    ++returned;
  });
  for (int i = 1; i <= stuck_count; ++i) {
    l->push(&stuck);
    door.await_arrivals(static_cast<std::size_t>(i));
    EXPECT_TRUE(l->replace_thread());
  }
  completion served;
  job other([&] { served.set(); });
  l->push(&other);
  EXPECT_TRUE(served.block_until(never_ns));
  EXPECT_EQ(alive, stuck_count + 1);
  door.open();
  while (alive != 1) std::this_thread::yield();
  EXPECT_EQ(returned, stuck_count);
  completion again;
  job later([&] { again.set(); });
  l->push(&later);
  EXPECT_TRUE(again.block_until(never_ns)) << "by the one that is left";
  EXPECT_EQ(alive, 1);
  l->stop();
  EXPECT_EQ(l->join(never_ns), 0U);
}

TEST_F(lane_test, goes_on_with_the_threads_it_has_when_the_system_refuses_another) {
  const auto l = make(2);
  gate door;
  job waits([&] { door.pass(); });
  completion ended;
  job other([&] { ended.set(); });
  l->push(&waits);
  door.await_arrivals();
  refuse_threads = true;
  EXPECT_NO_THROW(l->push(&other));
  EXPECT_TRUE(l->ensure_served());
  EXPECT_TRUE(l->has_work());
  door.open();
  EXPECT_TRUE(ended.block_until(never_ns));
  l->stop();
  EXPECT_EQ(l->join(never_ns), 0U);
  EXPECT_EQ(threads.size(), 1U);
}

TEST_F(lane_test, tells_when_it_has_no_thread_and_serves_what_waits_once_it_gets_one) {
  const auto l = make(1);
  completion ended;
  job waits([&] { ended.set(); });
  refuse_threads = true;
  EXPECT_NO_THROW(l->push(&waits));
  EXPECT_FALSE(l->ensure_served());
  EXPECT_FALSE(ended.is_set());
  refuse_threads = false;
  EXPECT_TRUE(l->ensure_served());
  EXPECT_TRUE(ended.block_until(never_ns));
  l->stop();
  EXPECT_EQ(l->join(never_ns), 0U);
}

TEST_F(lane_test, has_nobody_while_its_thread_is_stuck_and_cannot_be_replaced) {
  const auto l = make(1);
  gate door;
  completion returned;
  job stuck([&] {
    door.pass();
    returned.set();
  });
  l->push(&stuck);
  door.await_arrivals();
  refuse_threads = true;
  EXPECT_FALSE(l->replace_thread());
  EXPECT_FALSE(l->ensure_served());
  door.open();
  EXPECT_TRUE(returned.block_until(never_ns));
  l->thread_returned();
  EXPECT_TRUE(l->ensure_served()) << "the one that has come back";
  l->stop();
  EXPECT_EQ(l->join(never_ns), 0U);
}

TEST_F(lane_test, counts_the_threads_that_do_not_come_back_and_drops_what_is_queued) {
  const auto l = make(1);
  gate door;
  completion out;
  job stuck([&] {
    {
      const user_scope inside({user_scope::what::kernel, "stuck", 1});
      door.pass();
    }
    out.set();
  });
  job queued([] { FAIL() << "run after the stop"; });
  l->push(&stuck);
  door.await_arrivals();
  l->push(&queued);
  l->stop();
  EXPECT_EQ(l->try_pop(), nullptr);
  EXPECT_EQ(l->join(soon()), 1U);
  EXPECT_EQ(dropped, 1);
  door.open();
  EXPECT_TRUE(out.block_until(never_ns));
  while (alive != 0) std::this_thread::yield(); // it was left to itself and counts itself out
}

TEST_F(lane_test, waits_past_the_deadline_for_a_thread_that_runs_no_user_code) {
  const auto l = make(1);
  gate door;
  std::atomic<bool> ended = false;
  job slow([&] {
    door.pass();
    ended = true;
  });
  l->push(&slow);
  door.await_arrivals();
  l->stop();
  job opens([&] { door.open(); });
  const auto opener = make(1);
  const auto deadline = steady_clock().now(); // is over before the door opens
  opener->push(&opens);
  EXPECT_EQ(l->join(deadline), 0U);
  EXPECT_TRUE(ended);
  opener->stop();
  EXPECT_EQ(opener->join(never_ns), 0U);
}

TEST_F(lane_test, serves_timers_that_come_due) {
  std::atomic<time_ns> due = never_ns;
  completion fired;
  lane::hooks hooks;
  hooks.run = [](caf::resumable*) {};
  hooks.drop = [](caf::resumable*) {};
  hooks.next_timer = [&] { return due.load(); };
  hooks.run_timers = [&] {
    if (steady_clock().now() < due.load()) return;
    due = never_ns;
    fired.set();
  };
  const auto l = std::make_shared<lane>("timers", 1, hooks);
  due = soon();
  l->settle();
  EXPECT_TRUE(fired.block_until(never_ns));
  l->stop();
  EXPECT_EQ(l->join(never_ns), 0U);
}

} // namespace
} // namespace troupe
