#include "core/task.hpp"

#include <cstring>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace troupe {
namespace {

TEST(task, interning_gives_one_copy_for_one_text) {
  std::string first = "interned name";
  const auto* a = intern_name(first);
  const auto* b = intern_name("interned name");
  EXPECT_EQ(a, b);
  EXPECT_NE(a, first.data());
  first.assign("changed afterwards");
  EXPECT_STREQ(a, "interned name");
  EXPECT_NE(a, intern_name("another name"));
}

TEST(task, a_literal_is_used_as_it_is) {
  static const char literal[] = "literal";
  const task t(literal);
  EXPECT_EQ(static_cast<const void*>(t.name), static_cast<const void*>(literal));
  EXPECT_EQ(t.blocks, 1U);
}

TEST(task, a_text_that_may_change_is_copied) {
  char text[] = "volatile";
  const task t(text, 3);
  text[0] = 'X';
  EXPECT_STREQ(t.name, "volatile");
  EXPECT_EQ(t.blocks, 3U);
  const std::string other = "from a string";
  EXPECT_EQ(task(std::string_view(other)).name, intern_name("from a string"));
}

TEST(task, knows_the_line_that_made_it) {
  const task t("here");
  const auto line = static_cast<std::uint32_t>(__LINE__) - 1;
  EXPECT_EQ(t.site.line, line);
  EXPECT_NE(std::strstr(t.site.file, "task_test.cpp"), nullptr);
}

} // namespace
} // namespace troupe
