#include "actors/block_job.hpp"

#include <atomic>
#include <cstdint>
#include <stdexcept>

#include <gtest/gtest.h>

#include "core/kernel_closure.hpp"
#include "tests/support/status_matchers.hpp"

namespace troupe {
namespace {

TEST(block_job, is_nearly_taken_after_a_failure_of_the_largest_launch) {
  int began = 0;
  const auto fails = [&began] {
    ++began;
    throw std::runtime_error("the first block");
  };
  auto c = make_kernel_command({"largest", UINT32_MAX}, fails);
  const std::atomic<std::uint64_t> nothing_aborted = 0;
  block_job job(c, stop_view(nothing_aborted, 1), {user_scope::what::kernel, "largest", 1});
  EXPECT_FALSE(job.nearly_taken());
  EXPECT_THAT(job.run_as_owner(), HasCode(code::kernel_exception));
  EXPECT_TRUE(job.nearly_taken());
  for (int helper = 0; helper < 2; ++helper) EXPECT_FALSE(job.run_as_helper());
  EXPECT_TRUE(job.nearly_taken());
  EXPECT_EQ(began, 1);
}

} // namespace
} // namespace troupe
