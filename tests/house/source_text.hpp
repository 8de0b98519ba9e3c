#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// Reading C++ text without a parser. All functions are pure; lines count from 1.
namespace troupe::house {

/// One violation: where it is and what is wrong with it.
struct finding {
  std::string path;
  std::size_t line;
  std::string message;

  friend bool operator==(const finding&, const finding&) = default;
};

/// One text file of the project; `path` is relative to the root, with `/`.
struct source_file {
  std::string path;
  std::string text;
};

/// What `blank` leaves standing.
enum class keep { code_only, code_and_strings };

/// Returns `text` with every comment, and unless kept every string and character literal, turned
/// into blanks. Length and line breaks stay, so that positions remain valid. Knows raw strings,
/// escapes, and digit separators.
[[nodiscard]] std::string blank(std::string_view text, keep what = keep::code_only);

/// Returns the line that holds position `at`.
[[nodiscard]] std::size_t line_of(std::string_view text, std::size_t at);

/// Returns the lines of `text` without their line breaks.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

/// Returns the position of the next occurrence of `word` from `from` on that is not part of a
/// longer identifier, or `npos`. An end of `word` that is punctuation binds to anything; so does a
/// leading `_`, which makes "_clock::now" match every clock.
[[nodiscard]] std::size_t find_word(std::string_view text, std::string_view word,
                                    std::size_t from = 0);

/// True for a character that can be part of an identifier.
[[nodiscard]] bool is_word(char c);

/// Reads all files below the given folders and the files directly in the root whose names are
/// those of project text: C++, CMake, Python, JSON, Markdown, YAML, and scripts. Sorted by path.
/// Throws `std::filesystem::filesystem_error` if the root cannot be read.
[[nodiscard]] std::vector<source_file> read_project(const std::filesystem::path& root);

/// True for a path that ends in `.hpp`, `.cpp`, `.h` or `.c`.
[[nodiscard]] bool is_cxx(std::string_view path);

/// One line a finding, for an assertion's message.
[[nodiscard]] std::string to_text(const std::vector<finding>& findings);

}  // namespace troupe::house
