// Requests that are merged: exact times in a simulated run, and every outcome of one.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/simulated.hpp"
#include "tests/support/status_matchers.hpp"
#include "troupe/batcher.hpp"
#include "troupe/testing.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

using testing::simulate;
using testing::simulation_options;
using testing::stage;
using namespace std::chrono_literals;
using doubler = batcher<int, int>;

std::vector<int> twice(const std::vector<int>& all) {
  std::vector<int> answers;
  for (const int each : all) answers.push_back(2 * each);
  return answers;
}

// A batch takes 1 ms, however many requests it has.
simulation_options options() {
  simulation_options made;
  made.costs.kernels["batch"] = 1'000'000;
  return made;
}

struct machine_room {
  explicit machine_room(stage& here, const batch_options& how = {},
                        const doubler::work& run = twice)
      : ctx(make_context(here)), s(ctx.create_stream().value()),
        batch(doubler::create(s, how, run).value()) {}

  context ctx;
  stream s;
  doubler batch;
};

void play(const simulation_options& how, const std::function<void(stage&)>& body) {
  const auto report = simulate(how, body);
  EXPECT_FALSE(report.hang) << *report.hang;
}

// Each client asks once, at `at(i)`.
template <class At, class Each>
void ask_all(stage& here, int clients, const At& at, const Each& each) {
  std::vector<testing::client> all;
  for (int i = 0; i < clients; ++i) {
    all.push_back(here.start_client("client " + std::to_string(i), [&, i] {
      if (at(i) > 0us) here.pass_time(at(i));
      each(i);
    }));
  }
  for (auto& one : all) one.join();
}

TEST(batches, a_single_client_is_served_at_once) {
  play(options(), [](stage& here) {
    machine_room room(here);
    EXPECT_EQ(room.batch.request(21).value(), 42);
    EXPECT_EQ(here.elapsed(), 1ms);
    EXPECT_EQ(room.batch.counters().batches, 1U);
  });
}

TEST(batches, requests_that_come_while_one_is_done_are_done_together) {
  play(options(), [](stage& here) {
    machine_room room(here, {"batch", 32, 1024, 10'000us});
    ask_all(here, 9, [](int i) { return i == 0 ? 0us : 100us; }, [&](int i) {
      EXPECT_EQ(room.batch.request(i).value(), 2 * i);
      EXPECT_EQ(here.elapsed(), i == 0 ? 1ms : 2ms);
    });
    const auto seen = room.batch.counters();
    EXPECT_EQ(seen.requests, 9U);
    EXPECT_EQ(seen.batches, 2U);
    EXPECT_EQ(seen.largest, 8U);
  });
}

TEST(batches, a_batch_is_launched_when_it_is_full_or_its_first_request_has_waited_long_enough) {
  play(options(), [](stage& here) {
    machine_room room(here, {"batch", 3, 1024, 200us});
    ask_all(here, 6, [](int i) { return i == 0 ? 0us : i < 4 ? 100us : 150us; },
            [&](int i) { EXPECT_EQ(room.batch.request(i).value(), 2 * i); });
    EXPECT_EQ(here.elapsed(), 3ms); // one, three, and the two that waited 200 us, in stream order
    EXPECT_EQ(room.batch.counters().batches, 3U);
    EXPECT_EQ(room.batch.counters().largest, 3U);
  });
}

TEST(batches, each_request_has_a_limit_of_its_own_and_a_full_queue_says_so) {
  play(options(), [](stage& here) {
    std::vector<std::size_t> sizes;
    machine_room room(here, {"batch", 32, 4, 10'000us}, [&](const std::vector<int>& all) {
      sizes.push_back(all.size());
      return twice(all);
    });
    ask_all(here, 5, [](int i) { return i == 0 ? 0us : i == 4 ? 200us : 100us; }, [&](int i) {
      const auto got = room.batch.request(i, i == 1 ? 1ms : 10ms);
      if (i == 4) {
        EXPECT_THAT(got, HasCode(code::queue_full));
        EXPECT_EQ(got.error().record()->lacking->resource, "batched requests");
      } else if (i == 1) {
        EXPECT_THAT(got, HasCode(code::wait_timeout));
        EXPECT_EQ(here.elapsed(), 1100us);
      } else {
        EXPECT_EQ(got.value(), 2 * i);
      }
    });
    EXPECT_EQ(room.batch.counters().expired, 1U);
    EXPECT_EQ(room.batch.counters().refused, 1U);
    EXPECT_THAT(room.batch.request(1, 0ms), HasCode(code::invalid_parameter));
  });
}

TEST(batches, what_a_batch_throws_is_told_to_its_requests_and_to_nobody_else) {
  play(options(), [](stage& here) {
    int calls = 0;
    machine_room room(here, {}, [&](const std::vector<int>& all) {
      ++calls;
      if (calls == 1) throw error(code::kernel_timeout, "too slow");
      if (calls == 2) throw std::runtime_error("broken");
      return calls == 3 ? std::vector<int>{} : twice(all);
    });
    EXPECT_THAT(room.batch.request(1), HasCode(code::kernel_timeout));
    EXPECT_THAT(room.batch.request(1).error(), SaysThat("broken"));
    EXPECT_THAT(room.batch.request(1).error(), SaysThat("got 0 answers"));
    EXPECT_EQ(room.batch.request(4).value(), 8);
    EXPECT_THAT(room.s.synchronize(), IsOk());
  });
}

TEST(batches, an_abort_a_closed_stream_and_a_lost_device_end_every_request_with_a_code) {
  play(options(), [](stage& here) {
    machine_room room(here);
    auto hold = here.runtime().create_signal();
    room.s.wait(hold).or_throw();
    auto aborts = here.start_client("aborts", [&] {
      here.pass_time(1ms);
      EXPECT_THAT(room.s.abort(), IsOk());
    });
    EXPECT_THAT(room.batch.request(1), HasCode(code::stream_abort));
    aborts.join();
    EXPECT_EQ(room.batch.request(1).value(), 2);
    EXPECT_THAT(room.s.destroy(), IsOk());
    EXPECT_THAT(room.batch.request(1), HasCode(code::invalid_handle));
    EXPECT_THAT(doubler::create({}, {}, twice), HasCode(code::invalid_handle));
    EXPECT_THAT(doubler::create(room.s, {"batch", 0}, twice), HasCode(code::invalid_parameter));
    EXPECT_THAT(doubler::create(room.s, {}, nullptr), HasCode(code::invalid_parameter));
  });
}

TEST(batches, any_order_of_events_answers_each_request_once_and_rightly) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    auto how = options();
    how.seed = seed;
    how.choice = testing::order::explore;
    how.expected_steps = 200;
    play(how, [seed](stage& here) {
      machine_room room(here, {"batch", 3, 1024, 500us});
      int answered = 0;
      ask_all(here, 8, [](int i) { return std::chrono::microseconds(300 * (i % 3)); }, [&](int i) {
        EXPECT_EQ(room.batch.request(i).value(), 2 * i) << seed;
        ++answered;
      });
      EXPECT_EQ(answered, 8) << seed;
      EXPECT_LE(room.batch.counters().largest, 3U) << seed;
    });
  }
}

} // namespace
} // namespace troupe
