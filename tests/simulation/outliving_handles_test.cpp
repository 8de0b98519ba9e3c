// Handles that are kept after a simulated run has ended, and end themselves later.

#include <optional>

#include <gtest/gtest.h>

#include "tests/support/status_matchers.hpp"
#include "troupe/graph.hpp"
#include "troupe/testing.hpp"

namespace troupe::testing {
namespace {

struct kept_handles {
  std::optional<device> where;
  context home;
  stream work;
  event mark;
  buffer<int> memory;
  pool spare;
};

kept_handles keep_from_a_run(std::uint64_t seed) {
  kept_handles kept;
  simulation_options options;
  options.seed = seed;
  options.runtime.devices.resize(1);
  options.runtime.devices.front().memory_bytes = std::uint64_t{1} << 28;
  const auto report = simulate(options, [&](stage& play) {
    kept.where = play.runtime().device(0).value();
    kept.home = kept.where->create_context().value();
    kept.work = kept.home.create_stream().value();
    kept.mark = kept.home.create_event().value();
    kept.memory = kept.home.allocate<int>(64).value();
    kept.spare = kept.home.create_pool().value();
    kept.work.record(kept.mark).or_throw();
    kept.work.synchronize().or_throw();
  });
  EXPECT_FALSE(report.hang);
  return kept;
}

TEST(outliving_handles, end_after_the_run_in_any_order) {
  auto first = keep_from_a_run(1);
  auto second = keep_from_a_run(2);
  first.memory = {};
  second.work = {};
  first.where.reset();
}

TEST(outliving_handles, are_refused_after_the_run) {
  auto kept = keep_from_a_run(1);
  EXPECT_THAT(kept.work.synchronize(), HasCode(code::uninitialized));
  EXPECT_THAT(kept.work.launch("late", [] {}), HasCode(code::uninitialized));
  EXPECT_THAT(kept.home.synchronize(), HasCode(code::uninitialized));
  EXPECT_FALSE(kept.home.allocate<int>(1).ok());
}

} // namespace
} // namespace troupe::testing
