#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/house/source_text.hpp"

namespace troupe::house {

/// Returns the names, out of those of the root folder, that do not belong there. Dot-files may
/// stand there, and the build folder is overlooked.
[[nodiscard]] std::vector<std::string> unexpected_at_top(const std::vector<std::string>& names);

/// Returns what is untidy in a text of any language: marks of unfinished work, trailing blanks,
/// tabs, carriage returns, a missing line break at the end, a path of one machine.
[[nodiscard]] std::vector<finding> untidy_lines(const source_file& file);

}  // namespace troupe::house
