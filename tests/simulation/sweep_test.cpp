#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/sanitizers.hpp"
#include "tests/simulation/reference_job.hpp"
#include "troupe/testing_gtest.hpp"

namespace troupe {
namespace {

using testing::fault_class;

testing::simulation_options two_small_devices() {
  testing::simulation_options made;
  device_profile small;
  small.memory_bytes = std::uint64_t{64} << 20;
  made.runtime.devices.assign(reference_job::sides, small);
  return made;
}

TEST(reference_job, passes_without_a_fault) {
  reference_job job;
  const auto report =
      testing::simulate(two_small_devices(), [&job](testing::stage& play) { job.run(play); });
  EXPECT_FALSE(report.hang) << *report.hang;
  EXPECT_EQ(job.verdict(report), "");
  for (const auto& each : job.outcome()) EXPECT_TRUE(each.complete);
}

TEST(sweep_names, a_class_of_faults_is_shown_in_words) {
  EXPECT_EQ(::testing::PrintToString(
                fault_class{fault_point::execute, fault_action::corrupt(1, true)}),
            "corrupt 1 byte with 507054 at execute");
}

class sweep : public ::testing::TestWithParam<fault_class> {};

// Truth rule 7: any single fault ends in the right bytes or a truthful code, in bounded time, in
// the context that it hit. Sanitizers look at a sample.
TEST_P(sweep, L12_every_single_fault_ends_in_the_truth) {
  reference_job job;
  const auto result = testing::sweep(
      two_small_devices(), [&job](testing::stage& play) { job.run(play); },
      [&job](const testing::simulation_report& report) { return job.verdict(report); },
      {GetParam()}, sanitized ? 41 : 1);
  EXPECT_TRUE(result.findings.empty()) << result.describe();
  EXPECT_GT(result.faults, 0U);
}

INSTANTIATE_TEST_SUITE_P(all, sweep, ::testing::ValuesIn(testing::all_fault_classes()),
                         [](const auto& each) {
                           return std::string(to_string(each.param.action.kind)) + "_at_" +
                                  std::string(to_string(each.param.point));
                         });

} // namespace
} // namespace troupe
