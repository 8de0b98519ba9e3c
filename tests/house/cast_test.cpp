#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "core/exploration/cast.hpp"
#include "core/faults/fault_channel.hpp"
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

// The names that stand as texts in calls of `ask`, wherever its arguments begin.
std::set<std::string> asked_in(const source_file& file) {
  std::set<std::string> found;
  const auto& text = file.text;
  for (auto at = text.find("ask<"); at != std::string::npos; at = text.find("ask<", at + 1)) {
    if (at == 0 || (text[at - 1] != ' ' && text[at - 1] != ')')) continue;
    const auto open = text.find('"', at);
    if (open == std::string::npos) break;
    found.insert(text.substr(open + 1, text.find('"', open + 1) - open - 1));
  }
  return found;
}

TEST(fault_calls, the_calls_that_a_plan_may_name_are_those_that_ask_an_actor) {
  std::set<std::string> asked;
  for (const auto& each : read_project(TROUPE_SOURCE_DIR)) {
    const bool library = each.path.starts_with("api/src/") || each.path.starts_with("actors/");
    if (library && each.path.ends_with(".cpp")) asked.merge(asked_in(each));
  }
  const auto names = fault_call_names();
  EXPECT_EQ(asked, std::set<std::string>(names.begin(), names.end()));
}

} // namespace
} // namespace troupe::house
