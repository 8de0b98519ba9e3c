#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>

#include <gtest/gtest.h>

#include "tests/house/forbidden_calls.hpp"
#include "tests/house/include_arrows.hpp"
#include "tests/house/sizes.hpp"
#include "tests/house/source_text.hpp"
#include "tests/house/tidiness.hpp"

/// The rules of the house, held against the project's own tree.
namespace troupe::house {

namespace {

constexpr std::size_t file_lines_max = 500;
constexpr std::size_t file_lines_usual = 300;
constexpr double percent_usual = 90;
constexpr std::size_t function_lines_max = 70;
constexpr std::size_t test_function_lines_max = 120;

class project : public testing::Test {
 protected:
  static const std::vector<source_file>& all() {
    static const auto files = read_project(TROUPE_SOURCE_DIR);
    return files;
  }

  static std::vector<source_file> sources() {
    std::vector<source_file> cxx;
    std::ranges::copy_if(all(), std::back_inserter(cxx),
                         [](const auto& f) { return is_cxx(f.path); });
    return cxx;
  }

  template <class Check>
  static void expect_none(const std::vector<source_file>& files, Check check) {
    std::vector<finding> findings;
    for (const auto& file : files) {
      for (auto& found : check(file))
        findings.push_back(std::move(found));
    }
    EXPECT_TRUE(findings.empty()) << to_text(findings);
  }
};

}  // namespace

TEST_F(project, is_really_read) {
  const auto has = [](std::string_view path) {
    return std::ranges::any_of(all(), [&](const auto& f) { return f.path == path; });
  };
  EXPECT_TRUE(has("CMakeLists.txt"));
  EXPECT_TRUE(has("core/status.hpp"));
  EXPECT_TRUE(has("tests/house/project_test.cpp"));
}

TEST_F(project, includes_follow_the_arrows) {
  expect_none(sources(), arrow_violations);
}

TEST_F(project, owners_alone_read_clocks_make_threads_block_and_spawn) {
  expect_none(sources(), [](const auto& f) { return forbidden_calls(f, forbidden_rules()); });
}

// Of the one that may, the order is that of the blocks in a slab, and only looked up.
TEST_F(project, no_order_in_the_library_is_one_of_addresses) {
  std::vector<source_file> library;
  std::ranges::copy_if(sources(), std::back_inserter(library), [](const auto& f) {
    return f.path.starts_with("core/") || f.path.starts_with("actors/") ||
           f.path.starts_with("api/");
  });
  ASSERT_FALSE(library.empty());
  // Both find by address, and go on in another order.
  expect_none(library, [](const auto& f) {
    return ordered_by_address(f, {"actors/pool_record.", "actors/use_table."});
  });
}

// What is left out of simulated runs says why.
TEST_F(project, behaviours_hold_in_simulated_runs_too) {
  std::size_t tests = 0;
  std::map<std::string, std::size_t> live_only; // by reason
  for (const auto& file : sources()) {
    if (!file.path.starts_with("tests/behaviour/")) continue;
    for (const auto line : lines_of(file.text)) {
      constexpr std::string_view mark = "LIVE_ONLY(\"";
      tests += line.starts_with("TEST") ? 1 : 0;
      const auto at = line.find(mark);
      if (at == std::string_view::npos) continue;
      const auto begin = at + mark.size();
      ++live_only[std::string(line.substr(begin, line.find('"', begin) - begin))];
    }
  }
  std::size_t left_out = 0;
  for (const auto& [reason, count] : live_only) {
    std::cout << count << " live only: " << reason << '\n';
    left_out += count;
  }
  std::cout << tests - left_out << " of " << tests << " behaviour tests run simulated as well\n";
  EXPECT_GE(tests - left_out, tests * 3 / 4);
}

TEST_F(project, functions_stay_short) {
  expect_none(sources(), [](const auto& f) {
    const bool test = f.path.starts_with("tests/");
    return long_functions(f, test ? test_function_lines_max : function_lines_max);
  });
}

TEST_F(project, files_stay_short) {
  std::vector<std::size_t> counts;
  for (const auto& file : sources()) {
    counts.push_back(lines_of(file.text).size());
    EXPECT_LE(counts.back(), file_lines_max) << file.path;
  }
  const auto profile = profile_of(counts, file_lines_usual);
  std::cout << counts.size() << " files, median " << profile.median << " lines, longest "
            << profile.lines_max << ", " << profile.percent_below << " % below " << file_lines_usual
            << '\n';
  EXPECT_GE(profile.percent_below, percent_usual);
}

TEST_F(project, has_the_agreed_names_at_the_top) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(TROUPE_SOURCE_DIR)) {
    names.push_back(entry.path().filename().string());
  }
  EXPECT_EQ(unexpected_at_top(names), std::vector<std::string>{});
}

TEST_F(project, is_tidy) {
  expect_none(all(), untidy_lines);
}

}  // namespace troupe::house
