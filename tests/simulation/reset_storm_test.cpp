// Recovery races with ordinary use, in any order of events.

#include <gtest/gtest.h>

#include "tests/support/reset_storm.hpp"
#include "tests/support/sanitizers.hpp"
#include "troupe/exploring.hpp"

namespace troupe {
namespace {

TEST(reset_storm, G5_under_1000_seeds_every_request_has_one_reply_and_a_fair_one) {
  testing::exploration_options options;
  options.runs = sanitized ? 50 : 1'000;
  options.shrink_replays_max = 50;
  options.base.runtime.devices.resize(1);
  options.base.runtime.compute_threads = 2;
  std::uint64_t succeeded = 0;
  std::uint64_t refused = 0;
  const auto found = testing::explore(options, [&](testing::stage& here) {
    playing = &here;
    reset_storm storm(here.runtime());
    storm.run(16, 4);
    succeeded += storm.succeeded();
    refused += storm.refused();
  });
  playing = nullptr;
  EXPECT_FALSE(found.failure) << found.describe();
  EXPECT_GT(succeeded, options.runs);
  EXPECT_GT(refused, options.runs);
}

} // namespace
} // namespace troupe
