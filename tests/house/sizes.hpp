#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tests/house/source_text.hpp"

namespace troupe::house {

/// A function body: the line of its opening brace, and its lines with both braces.
struct function_body {
  std::string head;
  std::size_t line;
  std::size_t lines;
};

/// Returns the bodies of the functions that stand at namespace or class level, in order. A lambda
/// or local class counts to the function around it. Follows the braces only, so it is meant for
/// code in this project's format.
[[nodiscard]] std::vector<function_body> functions_of(std::string_view text);

/// Returns the bodies of `file` that are longer than `lines_max`.
[[nodiscard]] std::vector<finding> long_functions(const source_file& file, std::size_t lines_max);

/// How long files are: the middle one, and how many of a hundred stay below a limit.
struct size_profile {
  std::size_t median = 0;
  std::size_t lines_max = 0;
  double percent_below = 0;
};

/// Returns the profile of `line_counts`, which may be empty; `percent_below` counts those lower
/// than `limit`.
[[nodiscard]] size_profile profile_of(std::vector<std::size_t> line_counts, std::size_t limit);

}  // namespace troupe::house
