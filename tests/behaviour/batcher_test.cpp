// Small requests merged into batches, live and in any order of events; tests/simulation has their
// exact times.

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "tests/behaviour/side_thread.hpp"
#include "tests/support/stage.hpp"
#include "troupe/batcher.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;
using doubler = batcher<int, int>;

class batches : public stage_test {
protected:
  batches() : stage_test(patient_options(1)) {}

  std::vector<int> twice(const std::vector<int>& all) {
    if (all.size() > largest) largest = all.size();
    std::vector<int> answers;
    for (const int each : all) answers.push_back(2 * each);
    return answers;
  }

  doubler make(const batch_options& how = {}) {
    return doubler::create(s, how, [this](const auto& all) { return twice(all); }).value();
  }

  std::size_t largest = 0; // of one batch at a time
};

TEST_F(batches, S4_every_client_gets_its_own_answer_in_few_batches) {
  const auto batch = make({"batch", 8, 1024, 200us});
  constexpr int clients = 8;
  constexpr int requests = 25;
  std::atomic<int> wrong = 0;
  std::vector<test_thread> threads;
  for (int client = 0; client < clients; ++client) {
    threads.emplace_back([&, client] {
      for (int i = 0; i < requests; ++i) {
        const auto asked = client * requests + i;
        const auto got = batch.request(asked);
        if (!got.ok() || got.value() != 2 * asked) ++wrong;
      }
    });
  }
  for (auto& each : threads) each.join();
  EXPECT_EQ(wrong, 0);
  const auto seen = batch.counters();
  EXPECT_EQ(seen.requests, std::uint64_t{clients * requests});
  EXPECT_LE(seen.batches, seen.requests);
  EXPECT_EQ(seen.largest, largest);
  EXPECT_LE(largest, 8U);
}

TEST_F(batches, S4_what_comes_while_a_batch_is_held_up_goes_together) {
  const auto batch = make({"batch", 32, 1024, 1'000'000us});
  auto held = rt.create_signal();
  ASSERT_THAT(s.wait(held), IsOk());
  std::vector<test_thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 5; ++i) {
    threads.emplace_back([&, i] {
      const auto got = batch.request(i);
      if (!got.ok() || got.value() != 2 * i) ++wrong;
    });
  }
  await([&] { return batch.counters().requests == 5; });
  held.raise();
  for (auto& each : threads) each.join();
  EXPECT_EQ(wrong, 0);
  if (batch.counters().batches == 2) { // else a second passed meanwhile
    EXPECT_EQ(largest, 4U);
  }
}

TEST_F(batches, S4_a_full_queue_an_expired_wait_and_an_abort_have_their_codes) {
  const auto batch = make({"batch", 32, 1, 200us});
  auto held = rt.create_signal();
  ASSERT_THAT(s.wait(held), IsOk());
  side_thread waits([&] { return batch.request(1).error(); });
  await([&] { return s.counters().submitted == 2; });
  EXPECT_THAT(batch.request(2), HasCode(code::queue_full));
  EXPECT_THAT(s.abort(), IsOk());
  EXPECT_THAT(waits.join(), HasCode(code::stream_abort));
  ASSERT_THAT(s.wait(held), IsOk());
  EXPECT_THAT(batch.request(3, 20ms), HasCode(code::wait_timeout));
  EXPECT_EQ(batch.counters().refused, 1U);
  EXPECT_EQ(batch.counters().expired, 1U);
  held.raise();
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(batch.request(4).value(), 8);
}

TEST_F(batches, S4_what_a_batch_throws_is_told_to_its_requests_and_its_stream_goes_on) {
  const auto broken = doubler::create(s, {}, [](const std::vector<int>&) -> std::vector<int> {
    throw error(code::kernel_timeout, "too slow");
  }).value();
  EXPECT_THAT(broken.request(1), HasCode(code::kernel_timeout));
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(make().request(3).value(), 6);
}

} // namespace
} // namespace troupe
