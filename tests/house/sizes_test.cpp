#include "tests/house/sizes.hpp"

#include <gtest/gtest.h>

namespace troupe::house {

namespace {

std::vector<std::size_t> body_sizes(std::string_view text) {
  std::vector<std::size_t> sizes;
  for (const auto& body : functions_of(text))
    sizes.push_back(body.lines);
  return sizes;
}

using sizes = std::vector<std::size_t>;

}  // namespace

TEST(sizes, functions_are_found_in_namespaces_and_classes) {
  EXPECT_EQ(body_sizes("namespace a {\nint f() {\n  return 1;\n}\n}\n"), (sizes{3}));
  EXPECT_EQ(body_sizes("struct a {\n public:\n  a() {}\n  int f() const {\n  }\n int b_ = 0;\n};\n"
                       "void g() noexcept {\n\n\n}\n"),
            (sizes{1, 2, 4}));
  EXPECT_EQ(
      body_sizes("template <class t>\nrequires(sizeof(t) > 1)\nstruct a {\nvoid f() {\n}\n};"),
      (sizes{2}));
  EXPECT_EQ(body_sizes("TEST(a, b) {\n  if (x) {\n  }\n}\nTEST(a, c) {\n}\n"), (sizes{4, 2}));
}

TEST(sizes, a_type_named_in_a_signature_makes_no_type_of_a_function) {
  EXPECT_EQ(body_sizes("template <class t>\nvoid f(t) {\n}\n"), (sizes{2}));
  EXPECT_EQ(body_sizes("int f(struct stat& s) {\n}\n"), (sizes{2}));
}

TEST(sizes, a_head_holds_the_whole_signature) {
  const auto found = functions_of("int a;\nvoid f(int x = int{1},\n       int y = 2) {\n}\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front().head, "void f(int x = int{1}, int y = 2)");
}

TEST(sizes, nested_braces_belong_to_the_function_around_them) {
  EXPECT_EQ(body_sizes("void f() {\n  auto g = [](int x) {\n    return x;\n  };\n  struct s {\n"
                       "    void h() {}\n  };\n}\nvoid i() {\n}\n"),
            (sizes{8, 2}));
  EXPECT_EQ(body_sizes("void f(int x = int{1}) {\n\n}\n"), (sizes{3}));
}

TEST(sizes, member_initialisers_are_not_the_body) {
  EXPECT_EQ(body_sizes("a::a(int x) : b_{x}, c_(x), d_{x} {\n\n\n}\nvoid f() {\n}\n"),
            (sizes{4, 2}));
}

TEST(sizes, tables_types_comments_and_directives_are_not_functions) {
  EXPECT_EQ(body_sizes("enum class a : int { b };\nconst int c[] = {\n1,\n2};\n// f() {\n"
                       "#define X(y) {\\\n  {\nconst char* s = \"f() {\";\n"),
            sizes{});
  EXPECT_EQ(body_sizes("std::map<int, std::function<void()>> t{\n{1, f(2)},\n};\nvoid g() {}\n"),
            (sizes{1}));
  EXPECT_EQ(body_sizes("constexpr auto t = std::to_array<p>({\n{1},\n{2},\n});\nvoid g() {}\n"),
            (sizes{1}));
}

TEST(sizes, a_function_above_the_limit_is_named_with_its_line) {
  const source_file file{"core/a.cpp", "int a;\nvoid f() {\n\n}\nvoid g() {\n}\n"};
  const auto found = long_functions(file, 2);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front(), (finding{"core/a.cpp", 2, "3 lines (2 allowed): void f()"}));
}

TEST(sizes, a_profile_counts_what_stays_below_the_limit) {
  const auto profile = profile_of({400, 10, 30, 20}, 300);
  EXPECT_EQ(profile.median, 30u);
  EXPECT_EQ(profile.lines_max, 400u);
  EXPECT_DOUBLE_EQ(profile.percent_below, 75);
  EXPECT_DOUBLE_EQ(profile_of({300, 1}, 300).percent_below, 50);
  EXPECT_EQ(profile_of({}, 300).median, 0u);
}

}  // namespace troupe::house
