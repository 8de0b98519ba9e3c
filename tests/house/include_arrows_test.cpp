#include "tests/house/include_arrows.hpp"

#include <gtest/gtest.h>

namespace troupe::house {

namespace {

std::size_t violations(std::string path, std::string text) {
  return arrow_violations({std::move(path), std::move(text)}).size();
}

}  // namespace

TEST(include_arrows, includes_are_read_in_both_forms_but_not_in_comments) {
  const auto found = includes_of("#include <a/b.hpp>\n  # include \"c.hpp\"\n// #include <d>\n");
  EXPECT_EQ(found, (std::vector<include>{{1, "a/b.hpp", false}, {2, "c.hpp", true}}));
}

TEST(include_arrows, core_includes_only_core) {
  EXPECT_EQ(violations("core/a.hpp", "#include \"core/b.hpp\"\n#include <vector>\n"), 0u);
  EXPECT_EQ(violations("core/a.hpp", "#include \"actors/b.hpp\"\n"), 1u);
  EXPECT_EQ(violations("core/a.hpp", "#include <troupe/b.hpp>\n"), 1u);
  EXPECT_EQ(violations("core/a.cpp", "#include <caf/all.hpp>\n"), 1u);
}

TEST(include_arrows, actors_include_core_and_actors) {
  EXPECT_EQ(
      violations("actors/scheduling/a.cpp",
                 "#include \"core/b.hpp\"\n#include \"actors/c.hpp\"\n#include <caf/all.hpp>\n"),
      0u);
  EXPECT_EQ(violations("actors/a.hpp", "#include \"api/src/b.hpp\"\n"), 1u);
  EXPECT_EQ(violations("actors/a.hpp", "#include <troupe/b.hpp>\n"), 1u);
}

TEST(include_arrows, public_headers_show_neither_actors_nor_caf) {
  EXPECT_EQ(violations("api/troupe/a.hpp", "#include \"core/b.hpp\"\n#include <troupe/c.hpp>\n"),
            0u);
  EXPECT_EQ(violations("api/troupe/a.hpp", "#include \"actors/b.hpp\"\n"), 1u);
  EXPECT_EQ(violations("api/troupe/a.hpp", "#include <caf/actor.hpp>\n"), 1u);
  EXPECT_EQ(violations("api/src/a.cpp", "#include \"actors/b.hpp\"\n#include <caf/actor.hpp>\n"),
            0u);
  EXPECT_EQ(violations("api/src/a.cpp", "#include \"tests/b.hpp\"\n"), 1u);
}

TEST(include_arrows, examples_see_only_public_headers) {
  EXPECT_EQ(violations("examples/a.cpp", "#include <troupe/troupe.hpp>\n"), 0u);
  EXPECT_EQ(violations("examples/a.cpp", "#include \"core/status.hpp\"\n"), 1u);
  EXPECT_EQ(violations("examples/a.cpp", "#include \"other.hpp\"\n"), 1u);
  EXPECT_EQ(violations("examples/digits/a.cpp", "#include \"other.hpp\"\n"), 0u);
  EXPECT_EQ(violations("examples/digits/a.cpp", "#include \"examples/digits/b.hpp\"\n"), 0u);
  EXPECT_EQ(violations("examples/server/a.cpp", "#include \"examples/digits/b.hpp\"\n"), 0u);
  EXPECT_EQ(violations("examples/digits/a.cpp", "#include \"examples/b.hpp\"\n"), 1u);
  EXPECT_EQ(violations("examples/a.cpp", "#include \"examples/digits/b.hpp\"\n"), 1u);
  EXPECT_EQ(violations("examples/digits/a.cpp", "#include \"actors/other.hpp\"\n"), 1u);
}

TEST(include_arrows, headers_of_ours_are_named_from_the_root) {
  EXPECT_EQ(violations("core/a.cpp", "#include \"a.hpp\"\n"), 1u);
  EXPECT_EQ(violations("core/a.cpp", "#include \"../core/a.hpp\"\n"), 1u);
}

}  // namespace troupe::house
