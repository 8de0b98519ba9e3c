#include "tests/house/source_text.hpp"

#include <string>

#include <gtest/gtest.h>

namespace troupe::house {

TEST(source_text, comments_and_strings_become_blanks_of_equal_length) {
  EXPECT_EQ(blank("a // b\nc"), "a     \nc");
  EXPECT_EQ(blank("a /* b\n*/ c"), "a     \n   c");
  EXPECT_EQ(blank("f(\"a\\\"b\") + g"), "f(      ) + g");
  EXPECT_EQ(blank("x = '\"'; y"), "x =    ; y");
  EXPECT_EQ(blank("// a \\\nb\nc"), "      \n \nc");
}

TEST(source_text, strings_can_be_kept_while_comments_go) {
  EXPECT_EQ(blank("\"a // b\" // c", keep::code_and_strings), "\"a // b\"     ");
}

TEST(source_text, raw_strings_end_at_their_own_delimiter) {
  EXPECT_EQ(blank("R\"x(a\" )\" b)x\" c"), "R" + std::string(13, ' ') + " c");
  EXPECT_EQ(blank("u8R\"(\")\" c"), "u8R      c");
}

TEST(source_text, a_digit_separator_opens_no_literal) {
  EXPECT_EQ(blank("1'000 + a"), "1'000 + a");
  EXPECT_EQ(blank("0xff'ff'00 + a"), "0xff'ff'00 + a");
  EXPECT_EQ(blank("u'a' + b"), "u    + b");
}

TEST(source_text, a_word_is_found_only_as_a_whole) {
  EXPECT_EQ(find_word("std::this_thread std::thread", "std::thread"), 17u);
  EXPECT_EQ(find_word("snprintf", "printf"), std::string_view::npos);
  EXPECT_EQ(find_word("detached_at", "detached"), std::string_view::npos);
  EXPECT_EQ(find_word("steady_clock::now()", "_clock::now"), 6u);
  EXPECT_EQ(find_word("a.spawn<b>", ".spawn<"), 1u);
}

TEST(source_text, lines_are_counted_from_one) {
  EXPECT_EQ(line_of("a\nb\nc", 0), 1u);
  EXPECT_EQ(line_of("a\nb\nc", 4), 3u);
  EXPECT_EQ(lines_of("a\n\nb").size(), 3u);
  EXPECT_EQ(lines_of("a\n").size(), 1u);
}

}  // namespace troupe::house
