#include "tests/house/source_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>

namespace troupe::house {

namespace {

constexpr auto npos = std::string_view::npos;

/// The end of the quoted literal that opens at `open`; an unclosed one ends with its line.
std::size_t end_of_quoted(std::string_view text, std::size_t open) {
  const char quote = text[open];
  for (auto at = open + 1; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == quote) {
      return at + 1;
    } else if (text[at] == '\n') {
      return at;
    }
  }
  return text.size();
}

/// The end of the raw string whose quotation mark is at `open`.
std::size_t end_of_raw(std::string_view text, std::size_t open) {
  const auto paren = text.find('(', open);
  if (paren == npos) return text.size();
  const auto closing = ")" + std::string(text.substr(open + 1, paren - open - 1)) + "\"";
  const auto close = text.find(closing, paren);
  return close == npos ? text.size() : close + closing.size();
}

/// The end of the comment that opens at `at`. A line comment goes on after a backslash.
std::size_t end_of_comment(std::string_view text, std::size_t at) {
  if (text[at + 1] == '*') {
    const auto close = text.find("*/", at + 2);
    return close == npos ? text.size() : close + 2;
  }
  auto end = text.find('\n', at);
  while (end != npos && text[end - 1] == '\\')
    end = text.find('\n', end + 1);
  return end == npos ? text.size() : end;
}

bool opens_raw(std::string_view text, std::size_t quote) {
  if (quote == 0 || text[quote - 1] != 'R') return false;
  auto begin = quote - 1;
  while (begin > 0 && is_word(text[begin - 1]))
    --begin;
  const auto prefix = text.substr(begin, quote - begin);
  return prefix == "R" || prefix == "u8R" || prefix == "uR" || prefix == "UR" || prefix == "LR";
}

/// 1'000 is a number and u'x' is a literal: a separator stands in a word that starts with a digit.
bool is_digit_separator(std::string_view text, std::size_t quote) {
  auto begin = quote;
  while (begin > 0 && (is_word(text[begin - 1]) || text[begin - 1] == '\''))
    --begin;
  return begin < quote && std::isdigit(static_cast<unsigned char>(text[begin])) != 0;
}

void wipe(std::string& text, std::size_t begin, std::size_t end) {
  for (auto at = begin; at < end; ++at) {
    if (text[at] != '\n') text[at] = ' ';
  }
}

bool is_project_text(const std::filesystem::path& path) {
  static constexpr std::array extensions{".hpp", ".cpp",  ".h",  ".c",  ".cmake", ".in",
                                         ".py",  ".json", ".md", ".sh", ".yml",   ".supp"};
  static constexpr std::array names{"CMakeLists.txt", "run", ".gitignore", ".clang-format"};
  return std::ranges::find(extensions, path.extension().string()) != extensions.end() ||
         std::ranges::find(names, path.filename().string()) != names.end();
}

bool is_foreign(const std::filesystem::path& path) {
  const auto name = path.filename().string();
  return name == ".git" || name == "__pycache__" || name.starts_with("build");
}

}  // namespace

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string blank(std::string_view text, keep what) {
  std::string result{text};
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    const char next = at + 1 < text.size() ? text[at + 1] : '\0';
    auto end = at + 1;
    if (c == '/' && (next == '/' || next == '*')) {
      end = end_of_comment(text, at);
      wipe(result, at, end);
    } else if (c == '"' || (c == '\'' && !is_digit_separator(text, at))) {
      end = c == '"' && opens_raw(text, at) ? end_of_raw(text, at) : end_of_quoted(text, at);
      if (what == keep::code_only) wipe(result, at, end);
    }
    at = end;
  }
  return result;
}

std::size_t line_of(std::string_view text, std::size_t at) {
  return 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, at), '\n'));
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == npos ? text.size() : end + 1);
  }
  return lines;
}

std::size_t find_word(std::string_view text, std::string_view word, std::size_t from) {
  for (auto at = text.find(word, from); at != npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    const bool open_left =
        at == 0 || !is_word(word.front()) || word.front() == '_' || !is_word(text[at - 1]);
    const bool open_right = end == text.size() || !is_word(word.back()) || !is_word(text[end]);
    if (open_left && open_right) return at;
  }
  return npos;
}

std::vector<source_file> read_project(const std::filesystem::path& root) {
  namespace fs = std::filesystem;
  std::vector<source_file> files;
  for (auto entry = fs::recursive_directory_iterator(root);
       entry != fs::recursive_directory_iterator(); ++entry) {
    if (entry->is_directory() && is_foreign(entry->path())) {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file() && is_project_text(entry->path())) {
      std::ifstream in{entry->path(), std::ios::binary};
      files.push_back({fs::relative(entry->path(), root).generic_string(),
                       {std::istreambuf_iterator<char>{in}, std::istreambuf_iterator<char>{}}});
    }
  }
  std::ranges::sort(files, {}, &source_file::path);
  return files;
}

bool is_cxx(std::string_view path) {
  return path.ends_with(".hpp") || path.ends_with(".cpp") || path.ends_with(".h") ||
         path.ends_with(".c");
}

std::string to_text(const std::vector<finding>& findings) {
  std::string text;
  for (const auto& f : findings) {
    text += "\n" + f.path + ":" + std::to_string(f.line) + ": " + f.message;
  }
  return text;
}

}  // namespace troupe::house
