#include "tests/house/tidiness.hpp"

#include <algorithm>
#include <array>

namespace troupe::house {

namespace {

constexpr auto npos = std::string_view::npos;

// Both lists are written in halves, so that this file does not find itself.
const std::array<std::string, 4> unfinished{
    "TO"
    "DO",
    "FIX"
    "ME",
    "XX"
    "X",
    "HA"
    "CK"};
const std::array<std::string, 4> machine_roots{
    "/wo"
    "rk/",
    "/ro"
    "ot/",
    "/ho"
    "me/",
    "/tm"
    "p/"};

/// A path of the machine starts with its root; "framework/x" holds the letters by chance.
bool has_path_from(std::string_view line, std::string_view root) {
  for (auto at = line.find(root); at != npos; at = line.find(root, at + 1)) {
    if (at == 0) return true;
    const char before = line[at - 1];
    if (!is_word(before) && before != '.' && before != '-' && before != '}') return true;
  }
  return false;
}

void check_line(const source_file& file, std::size_t number, std::string_view line,
                std::vector<finding>& findings) {
  const auto add = [&](std::string message) {
    findings.push_back({file.path, number, std::move(message)});
  };
  if (line.ends_with(' ')) add("trailing blank");
  if (line.find('\t') != npos) add("tab");
  if (line.find('\r') != npos) add("carriage return");
  for (const auto& mark : unfinished) {
    if (find_word(line, mark) != npos) add("unfinished: " + mark);
  }
  for (const auto& root : machine_roots) {
    if (has_path_from(line, root)) add("a path of one machine: " + root);
  }
}

}  // namespace

std::vector<std::string> unexpected_at_top(const std::vector<std::string>& names) {
  static constexpr std::array allowed{
      "CMakeLists.txt",    "actors", "core", "api", "tests", "examples", "README.md", "LICENSE",
      "CMakePresets.json", "build"};
  std::vector<std::string> unexpected;
  for (const auto& name : names) {
    const bool known = std::ranges::find(allowed, name) != allowed.end();
    if (!known && !name.starts_with('.')) unexpected.push_back(name);
  }
  return unexpected;
}

std::vector<finding> untidy_lines(const source_file& file) {
  std::vector<finding> findings;
  std::size_t number = 0;
  for (const auto line : lines_of(file.text))
    check_line(file, ++number, line, findings);
  if (!file.text.empty() && !file.text.ends_with('\n')) {
    findings.push_back({file.path, number, "no line break at the end"});
  }
  return findings;
}

}  // namespace troupe::house
