#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include "core/call_site.hpp"
#include "core/kernel_traits.hpp"
#include "core/status.hpp"
#include "troupe/copy_kind.hpp"

namespace troupe {

/// A copy, as the facade passes it on: where to, room there, where from, how much.
struct copy_request {
  void* target = nullptr;
  std::size_t target_bytes = 0;
  const void* source = nullptr;
  std::size_t bytes = 0;
  copy_kind kind = copy_kind::automatic;
  std::uint64_t target_context = 0; ///< 0: not device memory, or not known
  std::uint64_t source_context = 0;
  call_site site;
  /// Ordinary host memory of a copy on a stream is kept by the caller, and left alone, until the copy
  /// has ended: it then returns at once, as with pinned memory, and may be captured.
  bool held = false;
};

namespace detail {

template <class R>
[[nodiscard]] constexpr std::uint64_t context_of(const R& range) {
  if constexpr (device_memory<R>) {
    return range.context_id();
  } else {
    return 0;
  }
}

/// Bytes of `count` elements; more than there can be when that does not fit, so that checks see it.
[[nodiscard]] constexpr std::size_t bytes_in(std::size_t count, std::size_t element) noexcept {
  return count > SIZE_MAX / element ? SIZE_MAX : count * element;
}

} // namespace detail

/// Describes a copy from `source` to `target`, each a buffer or view of device memory or a
/// contiguous range of host memory, of the same trivially copyable element type. All of `source` is
/// copied.
template <class Target, class Source>
[[nodiscard]] copy_request make_copy_request(Target&& target, const Source& source,
                                             call_site site) {
  using element = std::remove_pointer_t<decltype(std::data(target))>;
  using source_element = std::remove_const_t<std::remove_pointer_t<decltype(std::data(source))>>;
  static_assert(std::is_same_v<element, source_element>,
                "a copy needs a writable target and a source of the same element type");
  static_assert(std::is_trivially_copyable_v<element>, "a copy moves bytes");
  constexpr bool to_device = device_memory<std::remove_cvref_t<Target>>;
  constexpr bool from_device = device_memory<Source>;
  constexpr auto kind = to_device ? (from_device ? copy_kind::device_to_device
                                                 : copy_kind::host_to_device)
                                  : (from_device ? copy_kind::device_to_host
                                                 : copy_kind::host_to_host);
  return {std::data(target), detail::bytes_in(std::size(target), sizeof(element)),
          std::data(source), detail::bytes_in(std::size(source), sizeof(element)),
          kind,
          detail::context_of(target),
          detail::context_of(source),
          site,
          false};
}

} // namespace troupe
