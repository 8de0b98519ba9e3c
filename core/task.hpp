#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/call_site.hpp"

namespace troupe {

/// A copy of `name` that lives for ever, shared by all who ask for the same text. At most 65,536
/// different names are kept; later ones all become "(unnamed)". Any thread.
[[nodiscard]] const char* intern_name(std::string_view name);

namespace detail {
/// Hold the table of names still while the process forks, so that the child can use it.
void hold_names();
void release_names();
} // namespace detail

/// How a launch is called, split and found again: its name in errors and traces, the number of
/// blocks, and the line that submitted it (filled in by itself).
///
///     stream.launch("scale", fn, ...);          // one block
///     stream.launch({"scale", 32}, fn, ...);    // 32 blocks over the device's cores
struct task {
  /// A literal is used as it is, and so is any other array of constant characters, which must live
  /// as long as the program: pass one that may go away, such as a member, as a `std::string_view`.
  template <std::size_t N>
  task(const char (&literal)[N], std::uint32_t block_count = 1, call_site where = call_site::here())
      : name(literal), blocks(block_count), site(where) {}

  /// A text that may change or go away is interned: an array of characters that are not constant,
  /// and whatever is a `std::string_view`.
  template <std::size_t N>
  task(char (&text)[N], std::uint32_t block_count = 1, call_site where = call_site::here())
      : task(std::string_view(text), block_count, where) {}

  task(std::string_view text, std::uint32_t block_count = 1, call_site where = call_site::here())
      : name(intern_name(text)), blocks(block_count), site(where) {}

  const char* name;
  std::uint32_t blocks;
  call_site site;
};

} // namespace troupe
