#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "core/exploration/cast.hpp"
#include "tests/house/source_text.hpp"

namespace troupe::house {
namespace {

// The messages for which the source at `path` has a handler.
std::set<std::string> handled_in(const std::string& path) {
  static const auto files = read_project(TROUPE_SOURCE_DIR);
  const auto file = std::ranges::find(files, path, &source_file::path);
  if (file == files.end()) return {};
  std::set<std::string> found;
  const auto& text = file->text;
  for (auto at = text.find("on<"); at != std::string::npos; at = text.find("on<", at + 1)) {
    if (text[at - 1] != ' ' && text[at - 1] != '{') continue;
    found.insert(text.substr(at + 3, text.find('>', at) - at - 3));
  }
  return found;
}

bool is_engine(std::string_view role) {
  return role == "compute" || role == "callback" || role.starts_with("dma_");
}

TEST(coverage_cast, the_cast_that_coverage_knows_is_the_one_on_stage) {
  for (const auto& role : cast()) {
    const std::string stem = is_engine(role.name) ? "engine" : std::string(role.name);
    const std::set<std::string> known(role.messages.begin(), role.messages.end());
    EXPECT_EQ(known, handled_in("actors/" + stem + "_actor.cpp")) << role.name;
  }
}

} // namespace
} // namespace troupe::house
