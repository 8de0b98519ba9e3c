#include "actors/timeline.hpp"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "actors/ticket.hpp"

namespace troupe {
namespace {

class listener final : public ticket_listener {
public:
  std::atomic<int> reached = 0;
  std::atomic<int> dropped = 0;

private:
  void on_ticket(ticket_state state) noexcept override {
    ++(state == ticket_state::reached ? reached : dropped);
  }
};

class timeline_test : public ::testing::Test {
protected:
  void accept_up_to(std::uint64_t number) {
    for (auto n = line.submitted() + 1; n <= number; ++n) line.accept(n);
  }
  void complete_up_to(std::uint64_t number) {
    for (auto n = line.completed() + 1; n <= number; ++n) EXPECT_TRUE(line.complete(n));
  }
  void drop_up_to(std::uint64_t number) {
    for (auto n = line.completed() + 1; n <= number; ++n) {
      line.note_dropped(n, n);
      EXPECT_TRUE(line.complete(n));
    }
  }

  timeline line{7};
  std::shared_ptr<listener> host = std::make_shared<listener>();
  std::shared_ptr<listener> device = std::make_shared<listener>();
};

TEST_F(timeline_test, tells_what_has_become_of_a_number) {
  accept_up_to(3);
  EXPECT_EQ(line.state_of(1), ticket_state::pending);
  complete_up_to(1);
  EXPECT_EQ(line.state_of(1), ticket_state::reached);
  EXPECT_EQ(line.state_of(2), ticket_state::pending);
  line.abort();
  EXPECT_EQ(line.state_of(1), ticket_state::reached);
  EXPECT_EQ(line.state_of(2), ticket_state::dropped);
  drop_up_to(3);
  EXPECT_EQ(line.state_of(3), ticket_state::dropped);
  accept_up_to(4);
  EXPECT_EQ(line.state_of(4), ticket_state::pending);
  complete_up_to(4);
  EXPECT_EQ(line.state_of(4), ticket_state::reached);
  EXPECT_EQ(line.state_of(3), ticket_state::dropped);
}

TEST_F(timeline_test, numbers_end_in_order_and_once) {
  accept_up_to(3);
  EXPECT_FALSE(line.complete(2));
  EXPECT_TRUE(line.complete(1));
  EXPECT_FALSE(line.complete(1));
  EXPECT_EQ(line.completed(), 1U);
}

TEST_F(timeline_test, tells_a_listener_once_when_its_number_is_reached) {
  accept_up_to(5);
  ASSERT_TRUE(line.subscribe(3, host, listener_kind::host));
  complete_up_to(2);
  EXPECT_EQ(host->reached, 0);
  complete_up_to(5);
  EXPECT_EQ(host->reached, 1);
  EXPECT_FALSE(line.subscribe(3, host, listener_kind::host));
  EXPECT_EQ(host.use_count(), 1);
}

TEST_F(timeline_test, forgets_a_listener_that_takes_its_subscription_back) {
  accept_up_to(5);
  ASSERT_TRUE(line.subscribe(3, host, listener_kind::host));
  ASSERT_TRUE(line.subscribe(4, host, listener_kind::host));
  ASSERT_TRUE(line.subscribe(3, device, listener_kind::device));
  line.unsubscribe(host.get());
  EXPECT_EQ(host.use_count(), 1);
  complete_up_to(5);
  EXPECT_EQ(host->reached, 0);
  EXPECT_EQ(device->reached, 1);
}

TEST_F(timeline_test, an_abort_lets_hosts_go_and_leaves_device_waits_stalled) {
  accept_up_to(3);
  ASSERT_TRUE(line.subscribe(3, host, listener_kind::host));
  ASSERT_TRUE(line.subscribe(3, device, listener_kind::device));
  line.abort();
  EXPECT_EQ(host->dropped, 1);
  EXPECT_EQ(line.abort_count(), 1U);
  drop_up_to(3);
  EXPECT_EQ(device->reached + device->dropped, 0);
  accept_up_to(4);
  complete_up_to(4);
  EXPECT_EQ(device->reached + device->dropped, 0);
  line.unsubscribe(device.get());
  EXPECT_EQ(device.use_count(), 1);
}

TEST_F(timeline_test, a_device_wait_that_comes_after_the_drop_stalls_as_well) {
  accept_up_to(2);
  line.abort();
  drop_up_to(2);
  EXPECT_TRUE(line.subscribe(2, device, listener_kind::device)) << "it would look again for ever";
  EXPECT_FALSE(line.subscribe(2, host, listener_kind::host));
  EXPECT_FALSE(line.subscribe(0, device, listener_kind::device));
}

TEST_F(timeline_test, tickets_keep_their_meaning_however_many_drops_follow) {
  constexpr std::uint64_t ranges = 1000;
  for (std::uint64_t i = 1; i <= ranges; ++i) { // odd numbers are dropped, even ones reached
    accept_up_to(2 * i);
    drop_up_to(2 * i - 1);
    complete_up_to(2 * i);
  }
  for (std::uint64_t i = 1; i <= ranges; ++i) {
    ASSERT_EQ(line.state_of(2 * i), ticket_state::reached) << i;
    ASSERT_EQ(line.state_of(2 * i - 1), ticket_state::dropped) << i;
  }
  EXPECT_EQ(line.dropped_count(), ranges);
}

// -- giving up on an executor -------------------------------------------------

TEST_F(timeline_test, ends_the_aborted_numbers_for_an_executor_that_does_not_return) {
  accept_up_to(3);
  ASSERT_TRUE(line.subscribe(3, host, listener_kind::host));
  EXPECT_FALSE(line.complete_aborted(1)) << "nothing was aborted";
  line.abort();
  accept_up_to(4);
  ASSERT_TRUE(line.complete_aborted(1));
  line.tell_aborted();
  EXPECT_EQ(line.completed(), 3U);
  EXPECT_EQ(line.state_of(3), ticket_state::dropped);
  EXPECT_FALSE(line.complete(1)) << "the executor that was given up on must notice";
  EXPECT_TRUE(line.complete(4));
}

TEST_F(timeline_test, gives_up_on_nobody_who_has_ended_the_command) {
  accept_up_to(2);
  line.abort();
  line.note_dropped(1, 1);
  complete_up_to(1);
  EXPECT_FALSE(line.complete_aborted(1));
  EXPECT_FALSE(line.has_stray());
  EXPECT_EQ(line.completed(), 1U);
}

TEST_F(timeline_test, what_was_given_up_on_is_not_over_before_it_returns) {
  const auto shared = std::make_shared<timeline>(1);
  shared->accept(1);
  shared->accept(2);
  const ticket before{shared, 1};
  ASSERT_TRUE(shared->complete(1));
  shared->abort();
  const ticket stuck{shared, 2};
  ASSERT_TRUE(shared->complete_aborted(2));
  EXPECT_TRUE(before.ended());
  EXPECT_EQ(shared->completed(), 2U);
  EXPECT_FALSE(stuck.ended()) << "its memory may still be written";
  EXPECT_FALSE(all_ended({before, stuck}));
  shared->stray_returned(2);
  EXPECT_TRUE(all_ended({before, stuck}));
  EXPECT_FALSE(shared->has_stray());
}

// -- races --------------------------------------------------------------------

TEST_F(timeline_test, nobody_is_forgotten_while_numbers_end_and_others_unsubscribe) {
  constexpr std::uint64_t numbers = 300;
  accept_up_to(numbers);
  std::atomic<bool> done = false;
  std::thread meddler([&] {
    const auto other = std::make_shared<listener>();
    while (!done) {
      if (line.subscribe(numbers, other, listener_kind::host)) line.unsubscribe(other.get());
      std::this_thread::yield();
    }
  });
  std::atomic<std::uint64_t> wanted = 0;
  std::thread executor([&] {
    for (std::uint64_t n = 1; n <= numbers; ++n) {
      while (wanted.load() < n) std::this_thread::yield();
      EXPECT_TRUE(line.complete(n));
    }
  });
  int told = 0;
  for (std::uint64_t n = 1; n <= numbers; ++n) {
    const auto mine = std::make_shared<listener>();
    const bool waits = line.subscribe(n, mine, listener_kind::device);
    wanted = n;
    // Without an end if the notice is lost.
    while (waits && mine->reached == 0) std::this_thread::yield();
    told += waits;
  }
  done = true;
  executor.join();
  meddler.join();
  EXPECT_GT(told, 0);
}

TEST_F(timeline_test, a_subscription_races_with_its_number) {
  constexpr std::uint64_t numbers = 2'000;
  accept_up_to(numbers);
  std::thread executor([&] {
    for (std::uint64_t n = 1; n <= numbers; ++n) EXPECT_TRUE(line.complete(n));
  });
  std::vector<std::shared_ptr<listener>> waiting;
  for (std::uint64_t n = 1; n <= numbers; ++n) {
    auto mine = std::make_shared<listener>();
    if (line.subscribe(n, mine, listener_kind::host)) waiting.push_back(std::move(mine));
  }
  executor.join();
  for (const auto& each : waiting) ASSERT_EQ(each->reached, 1);
}

} // namespace
} // namespace troupe
