#pragma once

#include <cstddef>

namespace troupe {

enum class access_mode : unsigned char { read, write };

/// Bytes that a command touches, and how. A kernel that takes `span<T>` may read as well as
/// write; `write` is the stronger claim and covers both.
struct access_range {
  const void* base = nullptr;
  std::size_t bytes = 0;
  access_mode mode = access_mode::read;
};

/// Receives the ranges of a command one by one; a plain function and a pointer, so that asking
/// allocates nothing.
struct access_sink {
  void (*take)(void* self, const access_range& range) = nullptr;
  void* self = nullptr;

  void operator()(const access_range& range) const { take(self, range); }
};

} // namespace troupe
