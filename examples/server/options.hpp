#pragma once

#include <variant>

#include "examples/server/http_front.hpp"
#include "examples/server/service.hpp"

namespace troupe::server {

/// The command line.
struct program_options {
  front_options front;
  service_options service;
  bool bare = false; ///< answer by the bare network, without a device
};

/// The options, with every number within its limits; or the exit code to end with after `--help`
/// (0) or a complaint about an option that names it, its value and the limit (2).
[[nodiscard]] std::variant<program_options, int> parse_options(int argc, char** argv);

} // namespace troupe::server
