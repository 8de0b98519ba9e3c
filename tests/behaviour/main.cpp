// Runs the suite live, or each test simulated under several seeds.

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/playing.hpp"
#include "troupe/exploring.hpp"

namespace troupe {
namespace {

testing::exploration_options options_of_test(std::uint64_t runs, std::uint64_t first_seed) {
  testing::exploration_options made;
  made.base.costs.kernels[stuck_kernel] = cost_model::never;
  made.base.runtime.devices.resize(1); // of a runtime that nobody uses
  made.first_seed = first_seed;
  made.runs = runs;
  made.shrink_replays_max = 100;
  return made;
}

// Shrinking repeats a failing test many times, of which one is to be read.
void run_tests_once() {
  if (RUN_ALL_TESTS() == 0) return;
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  throw std::runtime_error("the test failed");
}

// The tests that the filter names, in one simulation for each seed: ctest names one. Live clients,
// fixtures and all, they are the play's main client.
int run_simulated(std::uint64_t runs, std::uint64_t first_seed) {
  GTEST_FLAG_SET(brief, true);
  const auto seen = testing::explore(options_of_test(runs, first_seed), [](testing::stage& play) {
    playing = &play;
    run_tests_once();
  });
  playing = nullptr;
  if (!seen.failure) return 0;
  std::cout << seen.describe() << "\nTROUPE_TEST_SIMULATED=1 TROUPE_SEED=" << seen.failure->seed
            << " runs it again\n"
            << seen.failure->trace;
  return 1;
}

} // namespace
} // namespace troupe

int main(int count, char** arguments) {
  ::testing::InitGoogleMock(&count, arguments);
  const auto* runs = std::getenv("TROUPE_TEST_SIMULATED");
  if (runs == nullptr || GTEST_FLAG_GET(list_tests)) return RUN_ALL_TESTS();
  const auto* seed = std::getenv("TROUPE_SEED");
  return troupe::run_simulated(std::stoull(runs), seed != nullptr ? std::stoull(seed) : 1);
}
