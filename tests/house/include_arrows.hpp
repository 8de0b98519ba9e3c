#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tests/house/source_text.hpp"

namespace troupe::house {

/// One `#include` line of a file.
struct include {
  std::size_t line;
  std::string target;
  bool quoted;

  friend bool operator==(const include&, const include&) = default;
};

/// Returns the includes of `text` in order, those in comments excepted.
[[nodiscard]] std::vector<include> includes_of(std::string_view text);

/// Returns every include of `file` that runs against the arrow core <- actors <- api <- examples,
/// that names a file of ours otherwise than from the root, or that exposes CAF or the actors in a
/// public header. Files in `tests/` may include anything.
[[nodiscard]] std::vector<finding> arrow_violations(const source_file& file);

}  // namespace troupe::house
