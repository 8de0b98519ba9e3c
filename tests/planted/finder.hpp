#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tests/planted/bug_table.hpp"
#include "tests/planted/jobs.hpp"

namespace troupe::planted {

/// How a bug was found.
struct finding {
  std::string strategy; ///< that chose the order
  std::uint64_t runs = 0;
  std::uint64_t lines = 0; ///< of the smallest script: late things, and the fault if one was drawn
  std::string script;
  std::string fault; ///< that struck; empty if none was drawn
  std::string what;  ///< the failure's first line
};

/// Runs `job` under one seed after the other, from 1, with bug `number` (0: none) planted, until a
/// run fails or `runs` have passed.
[[nodiscard]] std::optional<finding> find_bug(int number, const job& job, std::uint64_t runs);

} // namespace troupe::planted
