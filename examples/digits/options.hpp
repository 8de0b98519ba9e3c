#pragma once

#include <cstddef>
#include <string>
#include <variant>

namespace troupe::digits {

/// What the program ends with.
enum exit_code : int {
  exit_good = 0,
  exit_failed = 1, ///< wrong results, or a run that could not end
  exit_usage = 2,
};

/// The command line.
struct program_options {
  std::size_t batch = 32;
  std::size_t streams = 2;
  std::size_t buffers = 4;
  std::size_t images = 3000;
  std::size_t repeat = 3;
  std::string json; ///< empty: no file
};

/// The options, with every number within its limits; or the exit code to end with after `--help`
/// (on stdout) or a complaint about an option that names it, its value and the limit (on stderr).
[[nodiscard]] std::variant<program_options, exit_code> parse_options(int argc, char** argv);

} // namespace troupe::digits
