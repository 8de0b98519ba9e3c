#include "tests/house/tidiness.hpp"

#include <gtest/gtest.h>

namespace troupe::house {

namespace {

std::size_t count(std::string text) {
  return untidy_lines({"a.cpp", std::move(text)}).size();
}

}  // namespace

TEST(tidiness, only_the_agreed_names_stand_at_the_top) {
  EXPECT_TRUE(unexpected_at_top({"core", "actors", "api", "README.md", ".ci", "build"}).empty());
  EXPECT_EQ(unexpected_at_top({"core", "src", "docs"}), (std::vector<std::string>{"src", "docs"}));
}

TEST(tidiness, blanks_tabs_and_missing_line_breaks_are_found) {
  EXPECT_EQ(count("a;\n  b;\n"), 0u);
  EXPECT_EQ(count("a; \n"), 1u);
  EXPECT_EQ(count("a;\tb;\n"), 1u);
  EXPECT_EQ(count("a;\r\n"), 1u);
  EXPECT_EQ(count("a;"), 1u);
}

TEST(tidiness, marks_of_unfinished_work_are_found_as_words) {
  EXPECT_EQ(count("// TO"
                  "DO: later\n"),
            1u);
  EXPECT_EQ(count("// FIX"
                  "ME\n// XX"
                  "X\n// HA"
                  "CK\n"),
            3u);
  EXPECT_EQ(count("// TO"
                  "DOS stays\n"),
            0u);
}

TEST(tidiness, paths_of_one_machine_are_found_and_parts_of_names_are_not) {
  EXPECT_EQ(count("open(\"/wo"
                  "rk/main\");\n"),
            1u);
  EXPECT_EQ(count("cd /ro"
                  "ot/x; cat /ho"
                  "me/y\n"),
            2u);
  EXPECT_EQ(count("#include \"frame/wo"
                  "rk/x.hpp\"\n"),
            0u);
  EXPECT_EQ(count("${dir}/tm"
                  "p/x\n"),
            0u);
}

}  // namespace troupe::house
