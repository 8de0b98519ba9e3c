#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/acl/fuzz/material.hpp"

/// One function of the interface, to be called with what cannot be right.
struct subject {
  const char* name;
  /// Its code; -1 for a function that returns none.
  int (*strike)(material&);
};

/// All that the library exports, but what `not_here` names.
[[nodiscard]] const std::vector<subject>& subjects();

/// Names that are left out of `subjects`, and why.
[[nodiscard]] const std::vector<std::pair<const char*, const char*>>& not_here();

/// Whether a code is one that a caller's mistake may have: 1xxxxx or 2xxxxx, or success.
[[nodiscard]] bool is_callers_or_resources(int code);
