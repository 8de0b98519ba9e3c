#include "tests/house/include_arrows.hpp"

#include <algorithm>
#include <array>

namespace troupe::house {

namespace {

constexpr auto npos = std::string_view::npos;

constexpr std::array parts{"core/", "actors/", "api/", "troupe/", "tests/", "examples/"};

/// What the files below `prefix` may include of the parts above.
struct charter {
  std::string_view prefix;
  std::vector<std::string_view> may_include;
  bool may_use_caf;
};

const std::vector<charter>& charters() {
  static const std::vector<charter> table{
      {"core/", {"core/"}, false},
      {"actors/", {"core/", "actors/"}, true},
      {"api/troupe/", {"core/", "troupe/"}, false},
      {"api/acl/include/", {}, false},
      {"api/rt/include/", {}, false},
      {"api/", {"core/", "actors/", "api/", "troupe/"}, true},
      {"examples/", {"troupe/"}, false},
  };
  return table;
}

std::string_view trim(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  return begin == npos ? std::string_view{} : text.substr(begin);
}

/// A program of several files, examples/<name>/, names its own from the root or by bare names, and
/// those of other such programs from the root.
bool is_of_examples(const source_file& file, const include& inc) {
  if (!file.path.starts_with("examples/") || std::ranges::count(file.path, '/') < 2) return false;
  const auto in_folder = std::ranges::count(inc.target, '/') >= 2;
  return (inc.target.starts_with("examples/") && in_folder) ||
         inc.target.find('/') == std::string::npos;
}

/// Headers for C programs name each other as these expect it, by bare names.
bool is_for_c(const source_file& file) { return file.path.starts_with("api/acl/include/"); }

std::string objection(const charter& rule, const source_file& file, const include& inc) {
  if (inc.quoted && is_of_examples(file, inc)) return "";
  const auto part = std::ranges::find_if(
      parts, [&](std::string_view name) { return inc.target.starts_with(name); });
  if (part != parts.end()) {
    const bool allowed = std::ranges::find(rule.may_include, *part) != rule.may_include.end();
    return allowed ? "" : "must not include " + std::string(*part);
  }
  if (inc.target.starts_with("caf/") && !rule.may_use_caf) return "must not include caf/";
  if (inc.quoted && !is_for_c(file)) return "must be included from the root";
  return "";
}

}  // namespace

std::vector<include> includes_of(std::string_view text) {
  std::vector<include> includes;
  const auto visible = blank(text, keep::code_and_strings);
  std::size_t number = 0;
  for (auto line : lines_of(visible)) {
    ++number;
    line = trim(line);
    if (!line.starts_with('#')) continue;
    line = trim(line.substr(1));
    if (!line.starts_with("include")) continue;
    line = trim(line.substr(7));
    if (line.empty() || (line.front() != '"' && line.front() != '<')) continue;
    const bool quoted = line.front() == '"';
    const auto close = line.find(quoted ? '"' : '>', 1);
    if (close != npos) includes.push_back({number, std::string(line.substr(1, close - 1)), quoted});
  }
  return includes;
}

std::vector<finding> arrow_violations(const source_file& file) {
  const auto rule = std::ranges::find_if(
      charters(), [&](const charter& c) { return file.path.starts_with(c.prefix); });
  if (rule == charters().end()) return {};
  std::vector<finding> findings;
  for (const auto& inc : includes_of(file.text)) {
    auto message = objection(*rule, file, inc);
    if (!message.empty()) findings.push_back({file.path, inc.line, inc.target + " " + message});
  }
  return findings;
}

}  // namespace troupe::house
