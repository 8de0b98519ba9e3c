#include <gtest/gtest.h>

#include "tests/simulation/reference_job.hpp"
#include "troupe/exploring.hpp"

namespace troupe {
namespace {

TEST(sweep, the_reference_job_passes_without_a_fault) {
  reference_job job;
  const auto report = testing::simulate({}, [&job](testing::stage& play) { job.run(play); });
  EXPECT_FALSE(report.hang) << *report.hang;
  EXPECT_EQ(job.verdict(report), "");
  for (const auto& each : job.outcome()) EXPECT_TRUE(each.complete);
  RecordProperty("steps", static_cast<int>(report.steps));
}

// Truth rule 7: any single fault ends in the right bytes or a truthful code, in bounded time, in
// the context that it hit.
TEST(sweep, L12_every_single_fault_ends_in_the_truth) {
  reference_job job;
  const auto result =
      testing::sweep({}, [&job](testing::stage& play) { job.run(play); },
                     [&job](const testing::simulation_report& report) {
                       return job.verdict(report);
                     });
  EXPECT_TRUE(result.findings.empty()) << result.describe();
  RecordProperty("faults", static_cast<int>(result.faults));
}

} // namespace
} // namespace troupe
