#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "troupe/testing_gtest.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

using testing::asked;
using testing::passes;
using testing::stage;

// Variables of the test's own, and as before afterwards.
class gtest_glue : public ::testing::Test {
protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }

  static void clear() {
    for (const auto* each : {"TROUPE_SEED", "TROUPE_RUNS", "TROUPE_SCRIPT"}) ::unsetenv(each);
  }
};

// The second stream is too early in some orders.
void racing(stage& play) {
  auto ctx = play.runtime().device(0).value().create_context().value();
  auto a = ctx.create_stream().value();
  auto b = ctx.create_stream().value();
  int cell = 0;
  a.launch("write", [&cell] { cell = 1; }).or_throw();
  b.launch("read", [&cell] { cell = cell == 0 ? 7 : 2; }).or_throw();
  ctx.synchronize().or_throw();
  if (cell == 1) throw std::runtime_error("the reader came first");
}

std::string refusal_of(const char* variable, const char* value) {
  ::setenv(variable, value, 1);
  try {
    (void)asked();
  } catch (const error& refused) {
    ::unsetenv(variable);
    return refused.what();
  }
  ::unsetenv(variable);
  return "";
}

TEST_F(gtest_glue, flags_are_taken_out_and_rule_the_search) {
  std::string words[] = {"program", "--troupe_seed=7", "--other", "--troupe_runs=3"};
  std::array<char*, 5> argv{words[0].data(), words[1].data(), words[2].data(), words[3].data(),
                            nullptr};
  int argc = 4;
  testing::take_flags(argc, argv.data());
  EXPECT_EQ(argc, 2);
  EXPECT_STREQ(argv[1], "--other");
  EXPECT_EQ(argv[2], nullptr);
  const auto options = asked();
  EXPECT_EQ(options.first_seed, 7U);
  EXPECT_EQ(options.runs, 3U);
  EXPECT_FALSE(options.script);
}

TEST_F(gtest_glue, a_flag_without_its_number_ends_the_process) {
  for (const std::string flag : {"--troupe_seed=", "--troupe_runs="}) {
    std::string words[] = {"program", flag};
    std::array<char*, 3> argv{words[0].data(), words[1].data(), nullptr};
    int argc = 2;
    EXPECT_EXIT(testing::take_flags(argc, argv.data()), ::testing::ExitedWithCode(2),
                "is a flag without its number");
  }
}

TEST_F(gtest_glue, wrong_values_are_refused_with_what_is_allowed) {
  for (const auto* wrong : {"7x", " 7", "-1", "+1", "18446744073709551616", "0x10"}) {
    EXPECT_NE(refusal_of("TROUPE_SEED", wrong).find(std::string("TROUPE_SEED is '") + wrong +
                                                    "'; it is a whole number from 0 to"),
              std::string::npos)
        << wrong;
  }
  EXPECT_NE(refusal_of("TROUPE_RUNS", "0").find("from 1 to 1000000000"), std::string::npos);
  EXPECT_NE(refusal_of("TROUPE_SCRIPT", "nonsense").find("TROUPE_SCRIPT: "), std::string::npos);
  EXPECT_EQ(refusal_of("TROUPE_SEED", "18446744073709551615"), "");
  EXPECT_EQ(refusal_of("TROUPE_SEED", ""), "");
}

TEST_F(gtest_glue, a_failure_tells_the_command_line_that_shows_it_again) {
  auto options = asked();
  const auto found = explore(options, &racing);
  ASSERT_TRUE(found.failure);
  const auto outcome = passes(found);
  EXPECT_FALSE(outcome);
  const std::string text = outcome.message();
  const auto& failure = *found.failure;
  EXPECT_NE(text.find("--gtest_filter='gtest_glue.a_failure_tells_the_command_line_that_shows_it_"
                      "again' --troupe_seed=" + std::to_string(failure.seed) +
                      " --troupe_script='" + failure.script + "'"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("what led there:\n"), std::string::npos) << text;

  ::setenv("TROUPE_SEED", std::to_string(failure.seed).c_str(), 1);
  ::setenv("TROUPE_SCRIPT", failure.script.c_str(), 1);
  const auto again = explore(asked(), &racing);
  ASSERT_TRUE(again.failure);
  EXPECT_EQ(again.runs, 1U);
  EXPECT_EQ(again.failure->what, failure.what);
  EXPECT_EQ(again.failure->chain, failure.chain);
}

TEST_F(gtest_glue, the_chain_leads_from_a_clients_call_to_the_failure) {
  const auto found = explore(asked(), &racing);
  ASSERT_TRUE(found.failure);
  const auto& chain = found.failure->chain;
  const auto last_line = chain.rfind('\n', chain.size() - 2);
  EXPECT_NE(chain.find("client main", last_line), std::string::npos) << chain;
  EXPECT_NE(chain.find("doorbell"), std::string::npos) << chain;
  EXPECT_NE(chain.find("works"), std::string::npos) << chain;
  EXPECT_LT(std::count(chain.begin(), chain.end(), '\n'),
            std::count(found.failure->trace.begin(), found.failure->trace.end(), '\n'));
}

TEST_F(gtest_glue, runs_sweeps_and_hangs_are_judged) {
  const auto fine = testing::try_simulate({}, &racing);
  EXPECT_TRUE(passes(fine));
  EXPECT_FALSE(hangs(fine));
  const auto stuck = testing::try_simulate({}, [](stage& play) {
    auto ctx = play.runtime().device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    s.wait(play.runtime().create_signal()).or_throw();
    s.synchronize().or_throw();
  });
  EXPECT_TRUE(hangs(stuck));
  EXPECT_FALSE(passes(stuck));
  EXPECT_FALSE(passes(testing::sweep_result{})); // it struck nothing
}

} // namespace
} // namespace troupe
