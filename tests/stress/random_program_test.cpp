#include "tests/stress/random_program.hpp"

namespace troupe {
namespace {

class random_programs : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(random_programs, do_what_a_sequential_model_says_and_leave_nothing_behind) {
  random_program program(GetParam());
  program.run(4, stress_rounds(250));
  program.check_end();
  EXPECT_GT(program.steps_that_ran(), 0U);
  EXPECT_GT(program.edges_checked(), 0U);
  EXPECT_GT(program.copies_checked(), 0U);
  EXPECT_GT(program.ordinary_copies_checked(), 0U);
}

INSTANTIATE_TEST_SUITE_P(seeds, random_programs, ::testing::ValuesIn(stress_seeds()),
                         [](const auto& test) { return "seed_" + std::to_string(test.param); });

} // namespace
} // namespace troupe
