#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/house/source_text.hpp"

namespace troupe::house {

/// One thing that only its owners may do.
struct forbidden_rule {
  std::string_view what;
  /// Words that betray it; see `find_word`. A word that ends in `(` also matches with a blank
  /// before it; any other word does not match where `::` follows it.
  std::vector<std::string_view> words;
  /// Path prefixes of the files the rule is about.
  std::vector<std::string_view> scope;
  /// Path prefixes of the files that may.
  std::vector<std::string_view> owners;
};

/// The rules of this project.
[[nodiscard]] const std::vector<forbidden_rule>& forbidden_rules();

/// Returns every ordered container in `file` whose key is an address or a handle: its order is
/// another in each process. `owners` are path prefixes of files that may.
[[nodiscard]] std::vector<finding> ordered_by_address(const source_file& file,
                                                      const std::vector<std::string_view>& owners);

/// Returns every use in `file` of what `rules` forbid to it. Comments and strings do not count.
[[nodiscard]] std::vector<finding> forbidden_calls(const source_file& file,
                                                   const std::vector<forbidden_rule>& rules);

}  // namespace troupe::house
