#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace troupe::planted {

/// A piece of a source file, and what stands there instead when the bug is selected.
struct edit {
  std::string file;  ///< from the project's root
  std::string right; ///< occurs exactly once in the file
  std::string wrong; ///< may be empty: a statement that is left out
};

/// A small wrong variant of the runtime.
struct bug {
  std::string name;
  std::string what; ///< what is wrong, in a sentence
  std::string job;  ///< the program that finds it
  std::vector<edit> edits;
};

/// Reads a table of bugs, numbered from 1 by their place:
///
///     bug NAME
///     what SENTENCE
///     job NAME
///     in FILE             one or more edits of three lines each
///     right TEXT
///     wrong TEXT
///
/// Empty lines and lines that begin with # stand between. Throws `std::runtime_error` naming the
/// line for anything else, for a name that comes twice, and for a bug that lacks something.
[[nodiscard]] std::vector<bug> parse_bugs(std::string_view text);

/// The text of `file` with all edits of `bugs` in it, each chosen by `troupe::planted_bug()`. A
/// right text that ends with a semicolon or a brace is a statement, any other an expression. Throws
/// `std::runtime_error` naming bug, file and text if a right text is not found exactly once, or if
/// two that differ overlap.
[[nodiscard]] std::string plant(const std::string& file, std::string_view text,
                                const std::vector<bug>& bugs);

/// The whole of a file. Throws `std::runtime_error` naming it if it cannot be read.
[[nodiscard]] std::string read_text(const std::string& path);

} // namespace troupe::planted
