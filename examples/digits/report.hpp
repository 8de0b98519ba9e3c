#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "examples/digits/measure.hpp"
#include "examples/digits/options.hpp"

namespace troupe::digits {

/// What the figures were measured on.
struct setting {
  program_options options;
  std::string device_name;
  std::size_t compute_engines;
  std::size_t hardware_threads;
};

/// Prints the table, one line a step, and what the fastest step is beside the bare loop, to stdout.
/// `bare` is the first line, `steps` are the others; there is at least one.
void print_report(const setting& where, const figures& bare, std::span<const figures> steps);

/// Writes the same as JSON to `where.options.json`. Throws `std::runtime_error` naming the file
/// when that fails.
void write_json(const setting& where, const figures& bare, std::span<const figures> steps);

} // namespace troupe::digits
