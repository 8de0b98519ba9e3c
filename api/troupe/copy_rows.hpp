#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <gsl/gsl>

#include "core/call_site.hpp"
#include "core/copies/copy_form.hpp"
#include "troupe/copy_kind.hpp"
#include "troupe/copy_request.hpp"

namespace troupe {

/// A copy of `height` rows of `width` bytes. A row begins `pitch` bytes behind the one before it; so
/// many, less what is behind its last row, a side takes of its allocation. Nothing between rows is
/// touched. Source and target may overlap where both pitches are the same.
struct copy_2d_request {
  void* target = nullptr;
  std::size_t target_pitch = 0; ///< at least `width`
  const void* source = nullptr;
  std::size_t source_pitch = 0; ///< at least `width`
  std::size_t width = 0;        ///< bytes of a row
  std::size_t height = 0;       ///< rows
  copy_kind kind = copy_kind::automatic;
  call_site site = call_site::here();
};

/// A fill of `height` rows of `width` bytes of device memory with a pattern, which begins anew in
/// each row.
struct fill_2d_request {
  void* target = nullptr;
  std::size_t pitch = 0; ///< at least `width`
  std::size_t width = 0;
  std::size_t height = 0;
  fill_pattern value; ///< from a byte, or `fill_pattern(bytes of a value)`
  call_site site = call_site::here();
};

/// Describes a fill of all of `target`, a buffer or view of device memory with elements of 1, 2, 4 or
/// 8 bytes, with `value`.
template <class Target>
[[nodiscard]] fill_2d_request make_fill_request(const Target& target,
                                                const typename Target::element_type& value,
                                                call_site site) {
  using element = typename Target::element_type;
  static_assert(std::is_trivially_copyable_v<element> && fill_pattern::fits(sizeof(element)),
                "a fill writes a value of 1, 2, 4 or 8 plain bytes");
  fill_2d_request made;
  made.target = target.data();
  made.width = made.pitch = detail::bytes_in(target.size(), sizeof(element));
  made.height = 1;
  made.value = fill_pattern(gsl::as_bytes(gsl::span(&value, 1)));
  made.site = site;
  return made;
}

} // namespace troupe
