#include "tests/planted/bug_table.hpp"

#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace troupe::planted {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

bug one(std::string right, std::string wrong) {
  return {"off_by_one", "it counts", "queue", {{"a.cpp", std::move(right), std::move(wrong)}}};
}

TEST(bug_table, reads_bugs_with_several_edits) {
  const auto bugs = parse_bugs("# a comment\n\nbug first\nwhat it is wrong\njob queue\n"
                               "in a.cpp\nright x = 1;\nwrong x = 2;\nin b.cpp\nright y;\nwrong\n");
  ASSERT_EQ(bugs.size(), 1U);
  EXPECT_EQ(bugs[0].name, "first");
  EXPECT_EQ(bugs[0].what, "it is wrong");
  ASSERT_EQ(bugs[0].edits.size(), 2U);
  EXPECT_EQ(bugs[0].edits[0].wrong, "x = 2;");
  EXPECT_EQ(bugs[0].edits[1].right, "y;");
  EXPECT_EQ(bugs[0].edits[1].wrong, "");
}

TEST(bug_table, refuses_what_is_incomplete_unknown_or_twice) {
  const std::string whole = "bug a\nwhat w\njob j\nin f\nright r\nwrong s\n";
  EXPECT_THAT([&] { (void)parse_bugs("bug a\nwhat w\n"); },
              ThrowsMessage<std::runtime_error>(AllOf(HasSubstr("line 2"), HasSubstr("'a'"))));
  EXPECT_THAT([&] { (void)parse_bugs(whole + "nonsense x\n"); },
              ThrowsMessage<std::runtime_error>(AllOf(HasSubstr("line 7"), HasSubstr("nonsense"))));
  EXPECT_THAT([&] { (void)parse_bugs(whole + whole); },
              ThrowsMessage<std::runtime_error>(HasSubstr("'a' comes twice")));
  EXPECT_THAT([&] { (void)parse_bugs("what w\n"); },
              ThrowsMessage<std::runtime_error>(HasSubstr("before the first bug")));
}

TEST(bug_table, plants_statements_expressions_and_omissions) {
  EXPECT_EQ(plant("a.cpp", "f(); g();", {one("g();", "h();")}),
            "f(); if (troupe::planted_bug() == 1) { h(); } else { g(); }");
  EXPECT_EQ(plant("a.cpp", "f(); g();", {one("g();", "")}),
            "f(); if (troupe::planted_bug() == 1) {  } else { g(); }");
  EXPECT_EQ(plant("a.cpp", "x < y", {one("y", "y + 1"), one("y", "0")}),
            "x < (troupe::planted_bug() == 1 ? (y + 1) : "
            "(troupe::planted_bug() == 2 ? (0) : (y)))");
  EXPECT_EQ(plant("b.cpp", "g();", {one("g();", "")}), "g();");
}

TEST(bug_table, a_text_that_is_gone_doubled_or_overlapped_names_bug_and_file) {
  const auto fails_with = [](const char* why) {
    return ThrowsMessage<std::runtime_error>(
        AllOf(HasSubstr("off_by_one"), HasSubstr("a.cpp"), HasSubstr(why)));
  };
  EXPECT_THAT([] { (void)plant("a.cpp", "f();", {one("g();", "")}); },
              fails_with("no longer found"));
  EXPECT_THAT([] { (void)plant("a.cpp", "g(); g();", {one("g();", "")}); },
              fails_with("found twice"));
  EXPECT_THAT([] { (void)plant("a.cpp", "f(); g();", {one("f(); g();", ""), one("f();", "")}); },
              fails_with("overlaps"));
  EXPECT_THAT([] { (void)plant("a.cpp", "f(); g();", {one("f(); g();", ""), one("g();", "")}); },
              ThrowsMessage<std::runtime_error>(HasSubstr("overlap in a.cpp")));
}

} // namespace
} // namespace troupe::planted
