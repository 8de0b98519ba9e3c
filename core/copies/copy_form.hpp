#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <variant>

#include <gsl/gsl>

#include "core/copies/conversion.hpp"

namespace troupe {

/// One copy of a batch. Ranges may overlap within an entry, as by `memmove`.
struct copy_entry {
  void* target = nullptr;
  const void* source = nullptr;
  std::size_t bytes = 0;
  std::size_t target_bytes = SIZE_MAX; ///< room at `target`, where it is known
};

/// How the bytes of a copy or fill lie. None says more than is needed to go on after any byte.

/// One after another.
struct in_a_row {};

/// Rows of `width` bytes, each `pitch` bytes behind the last.
struct in_rows {
  std::size_t width = 0;
  std::size_t target_pitch = 0;
  std::size_t source_pitch = 0;
};

/// As `entries` say, one entry after another; `at` is the one that comes next, of which `done` bytes
/// are copied. Whoever made the copy keeps the entries.
struct in_entries {
  const copy_entry* entries = nullptr;
  std::size_t at = 0;
  std::size_t done = 0;
};

/// One after another, converted. Bytes are counted as the target has them.
struct converted {
  conversion how;
};

using copy_form = std::variant<in_a_row, in_rows, in_entries, converted>;

/// What a fill writes again and again, from the beginning of each row: a value of 1, 2, 4 or 8
/// bytes, repeated to 8.
struct fill_pattern {
  std::array<std::byte, 8> bytes{};

  constexpr fill_pattern() noexcept = default;
  constexpr fill_pattern(unsigned char each) noexcept { bytes.fill(std::byte{each}); }

  /// The pattern of `value`, as it lies in memory.
  explicit fill_pattern(gsl::span<const std::byte> value) {
    Expects(fits(value.size()));
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = value[i % value.size()];
  }

  /// Whether a value of that many bytes can be filled with.
  [[nodiscard]] static constexpr bool fits(std::size_t value_bytes) noexcept {
    return value_bytes == 1 || value_bytes == 2 || value_bytes == 4 || value_bytes == 8;
  }
};

} // namespace troupe
