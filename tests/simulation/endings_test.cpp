// Aborts and shutdowns in virtual time: what a copy says that met an abort (D1), and how long a
// shutdown takes (L11), to the nanosecond.

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/support/status_matchers.hpp"
#include "troupe/testing.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

using testing::simulate;
using testing::simulation_options;
using testing::stage;
using namespace std::chrono_literals;

// -- D1 -----------------------------------------------------------------------

struct copy_tally {
  int ran = 0;
  int dropped = 0;
};

// One copy to ordinary memory and one abort, in the order that `seed` decides.
void copy_against_abort(std::uint64_t seed, copy_tally& tally) {
  simulation_options options;
  options.seed = seed;
  options.choice = testing::order::explore;
  options.expected_steps = 60;
  const auto report = simulate(options, [&](stage& play) {
    auto ctx = play.runtime().device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    auto source = ctx.allocate<int>(64, initial::cleared).value();
    std::vector<int> target(64, 1);
    auto aborting = play.start_client("aborting", [&s] { s.abort().or_throw(); });
    const auto outcome = s.copy(target, source);
    if (outcome.ok()) {
      ++tally.ran;
      EXPECT_EQ(target, std::vector<int>(64, 0)) << "seed " << seed;
    } else {
      ++tally.dropped;
      EXPECT_THAT(outcome, HasCode(code::stream_abort)) << "seed " << seed;
    }
    aborting.join();
    EXPECT_THAT(s.synchronize(), IsOk());
    EXPECT_EQ(s.counters().dropped, outcome.ok() ? 0U : 1U) << "seed " << seed;
  });
  EXPECT_FALSE(report.hang) << *report.hang;
}

TEST(simulated_endings, D1_a_copy_that_met_an_abort_says_whether_it_ran) {
  copy_tally tally;
  for (std::uint64_t seed = 0; seed < 300; ++seed) copy_against_abort(seed, tally);
  EXPECT_GT(tally.ran, 0);
  EXPECT_GT(tally.dropped, 0);
}

// -- L11 ----------------------------------------------------------------------

using chance = std::mt19937_64;

constexpr auto bound = 200ms;

simulation_options outstanding_work() {
  simulation_options made;
  made.runtime.stop_bound_ms = static_cast<unsigned>(bound.count());
  made.costs.kernels["short"] = 1'000'000;
  made.costs.kernels["long"] = 3'600'000'000'000;
  made.costs.kernels["stuck"] = cost_model::never;
  return made;
}

// One piece of work of a random kind, finished or not when the runtime goes.
void submit_something(stage& play, stream& s, event& mark, buffer<int>& memory, chance& dice) {
  switch (dice() % 8) {
    case 0: (void)s.launch("short", [] {}); break;
    case 1: (void)s.launch("long", [] {}); break;
    case 2: (void)s.launch("stuck", [] {}); break;
    case 3: (void)s.callback("call", [] {}); break;
    case 4: (void)s.wait(play.runtime().create_signal()); break;
    case 5: (void)s.wait(mark, 1h); break;
    case 6: (void)s.record(mark); break;
    case 7: (void)s.fill_bytes(memory, 1); break;
  }
}

TEST(simulated_endings, L11_shutdown_ends_within_three_bounds_whatever_is_outstanding) {
  std::chrono::nanoseconds longest = 0ns;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto report = simulate(outstanding_work(), [&](stage& play) {
      chance dice(seed);
      auto ctx = play.runtime().device(0).value().create_context().value();
      auto memory = ctx.allocate<int>(64).value();
      auto mark = ctx.create_event().value();
      std::vector<stream> streams;
      for (auto wanted = 1 + dice() % 4; wanted > 0; --wanted) {
        streams.push_back(ctx.create_stream().value());
      }
      for (auto pieces = dice() % 40; pieces > 0; --pieces) {
        submit_something(play, streams[dice() % streams.size()], mark, memory, dice);
      }
      play.pass_time(std::chrono::milliseconds(dice() % 3));
      const auto before = play.elapsed();
      (void)play.runtime().shutdown();
      longest = std::max(longest, play.elapsed() - before);
      EXPECT_LE(play.elapsed() - before, 3 * bound) << "seed " << seed;
      EXPECT_THAT(ctx.create_stream(), HasCode(code::uninitialized));
    });
    EXPECT_FALSE(report.hang) << *report.hang << " at seed " << seed;
  }
  EXPECT_GE(longest, bound) << "a task that does not stop gets its bound";
}

TEST(simulated_endings, L11_shutdown_takes_no_time_when_what_is_outstanding_only_waits) {
  const auto report = simulate(outstanding_work(), [](stage& play) {
    auto ctx = play.runtime().device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    ASSERT_THAT(s.wait(play.runtime().create_signal(), 1h), IsOk());
    for (int i = 0; i < 100; ++i) ASSERT_THAT(s.launch("long", [] {}), IsOk());
    EXPECT_THAT(play.runtime().shutdown(), IsOk());
    EXPECT_EQ(play.elapsed(), 0ns);
    EXPECT_EQ(s.counters().dropped, 101U);
  });
  EXPECT_FALSE(report.hang) << *report.hang;
}

} // namespace
} // namespace troupe
