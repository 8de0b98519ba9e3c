#pragma once

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "troupe/exploring.hpp"
#include "troupe/tenants.hpp"
#include "troupe/testing.hpp"

/// Troupe's searches for tests with GoogleTest. Header only: the library knows nothing of it.
///
///     TEST(server, survives_every_order) {
///       EXPECT_TRUE(passes(explore(asked(), my_body)));
///     }
///     int main(int argc, char** argv) { return troupe::testing::run_all_tests(argc, argv); }
///
/// An EXPECT or ASSERT that fails in a body, or in a verdict, makes that run fail as an exception
/// does: it is shrunk, and its text is told once, with the smallest run. So `HasFailure` says
/// nothing in there, and of GTEST_SKIP in a body nothing comes.
///
/// A failure prints how to see it again with this binary. With another `main`, as GoogleTest's own,
/// the environment does what the flags do.
namespace troupe::testing {
namespace gtest_glue {

/// How the running program was called; for the command line that replays a failure.
inline std::string& program() {
  static std::string name = "the test binary";
  return name;
}

// For the shell: single quotes, which a script never contains.
// Of a run that no script shows again, the seed alone.
inline std::string command_line(const failing_run& failure) {
  std::string text = program();
  if (const auto* test = ::testing::UnitTest::GetInstance()->current_test_info()) {
    text += std::string(" --gtest_filter='") + test->test_suite_name() + "." + test->name() + "'";
  }
  text += " --troupe_seed=" + std::to_string(failure.seed);
  return failure.reproduced ? text + " --troupe_script='" + failure.script + "'"
                            : text + " --troupe_runs=1";
}

// What is asserted in a run is the run's, not yet the test's.
inline std::string failed_assertions(const std::function<void()>& run) {
  ::testing::TestPartResultArray all;
  {
    const ::testing::ScopedFakeTestPartResultReporter reporter(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &all);
    run();
  }
  std::string text;
  for (int i = 0; i < all.size(); ++i) {
    const auto& each = all.GetTestPartResult(i);
    if (!each.failed()) continue;
    text += text.empty() ? "" : "\n";
    if (each.file_name() != nullptr) {
      text += std::string(each.file_name()) + ":" + std::to_string(each.line_number()) + ": ";
    }
    text += each.message();
  }
  return text;
}

inline const bool assertions_are_watched = (watch_assertions(&failed_assertions), true);

// Makes the flag `argument` the variable of its name; false if it is none of ours.
inline bool take_flag(std::string_view argument) {
  struct flag {
    std::string_view prefix;
    const char* variable;
  };
  for (const auto& each : {flag{"--troupe_seed=", "TROUPE_SEED"},
                           flag{"--troupe_runs=", "TROUPE_RUNS"},
                           flag{"--troupe_script=", "TROUPE_SCRIPT"}}) {
    if (!argument.starts_with(each.prefix)) continue;
    const std::string value(argument.substr(each.prefix.size()));
    if (value.empty() && std::string_view(each.variable) != "TROUPE_SCRIPT") {
      std::fprintf(stderr, "%s is a flag without its number\n", std::string(argument).c_str());
      std::exit(2);
    }
    ::setenv(each.variable, value.c_str(), 1);
    return true;
  }
  return false;
}

} // namespace gtest_glue

/// The options of a search with what flags and environment ask for laid over them; see
/// `exploration_options::from_environment`, also for failures.
[[nodiscard]] inline exploration_options asked(exploration_options base = {}) {
  return exploration_options::from_environment(std::move(base));
}

/// Takes the flags --troupe_seed=N, --troupe_runs=N and --troupe_script=S out of the command line,
/// which stand for the environment variables TROUPE_SEED, TROUPE_RUNS and TROUPE_SCRIPT. A wrong
/// value ends the process with a message and code 2. After `InitGoogleTest`, before any thread.
inline void take_flags(int& argc, char** argv) {
  if (argc > 0) gtest_glue::program() = argv[0];
  int kept = 0;
  for (int i = 0; i < argc; ++i) {
    if (!gtest_glue::take_flag(argv[i])) argv[kept++] = argv[i];
  }
  argc = kept;
  argv[argc] = nullptr;
  try {
    (void)asked();
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "%s\n", wrong.what());
    std::exit(2);
  }
}

/// A whole `main`: GoogleTest's flags, ours, and all tests. What is left of the command line is
/// refused, as a misspelt flag would search nothing.
[[nodiscard]] inline int run_all_tests(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  take_flags(argc, argv);
  if (argc > 1) {
    std::fprintf(stderr, "unknown argument '%s'; besides GoogleTest's there are --troupe_seed=N, "
                         "--troupe_runs=N and --troupe_script=S\n", argv[1]);
    return 2;
  }
  return RUN_ALL_TESTS();
}

/// How a test whose parameter it is shows it.
inline void PrintTo(const fault_class& each, std::ostream* to) {
  *to << describe(each.action) << " at " << to_string(each.point);
}

// -- what came of it, for EXPECT_TRUE ---------------------------------------------

/// No run failed, and each entry of a plan struck in one. Else: seed, smallest schedule, the
/// messages that led there, the line for a regression test and the command line that replays it.
[[nodiscard]] inline ::testing::AssertionResult passes(const exploration_result& result) {
  if (!result.failure) {
    return (result.never_fired().empty() ? ::testing::AssertionSuccess()
                                         : ::testing::AssertionFailure())
           << result.describe();
  }
  return ::testing::AssertionFailure() << result.describe() << "\nfrom the command line: "
                                       << gtest_glue::command_line(*result.failure);
}

/// Faults struck, and each ended in the truth.
[[nodiscard]] inline ::testing::AssertionResult passes(const sweep_result& result) {
  const bool all = result.findings.empty() && result.faults != 0;
  return (all ? ::testing::AssertionSuccess() : ::testing::AssertionFailure())
         << result.describe();
}

/// The one tenant made no difference to the other, and the comparison raised no doubt.
[[nodiscard]] inline ::testing::AssertionResult passes(const tenant_comparison& result) {
  return (result.isolated() ? ::testing::AssertionSuccess() : ::testing::AssertionFailure())
         << result.describe();
}

/// The run ended, and broke no rule.
[[nodiscard]] inline ::testing::AssertionResult passes(const simulation_report& report) {
  if (report.hang) return ::testing::AssertionFailure() << *report.hang;
  if (report.thrown) std::rethrow_exception(report.thrown);
  if (report.violations.empty()) return ::testing::AssertionSuccess();
  auto failed = ::testing::AssertionFailure();
  for (const auto& each : report.violations) failed << describe(each) << "\n";
  return failed;
}

/// The run hung, as it was meant to.
[[nodiscard]] inline ::testing::AssertionResult hangs(const simulation_report& report) {
  if (report.hang) return ::testing::AssertionSuccess() << *report.hang;
  return ::testing::AssertionFailure() << "the run did not hang";
}

} // namespace troupe::testing
