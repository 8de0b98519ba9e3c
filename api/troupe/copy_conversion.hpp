#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include "core/call_site.hpp"
#include "core/copies/conversion.hpp"
#include "troupe/copy_kind.hpp"
#include "troupe/copy_request.hpp"

namespace troupe {

/// A copy of `count` elements that converts them on the way. Source and target do not overlap.
struct convert_request {
  void* target = nullptr;
  std::size_t target_bytes = 0; ///< room there
  const void* source = nullptr;
  std::size_t count = 0;
  conversion how;
  copy_kind kind = copy_kind::automatic;
  call_site site = call_site::here();
};

/// Element types that have a `number_type`.
template <class T>
concept number = std::is_same_v<T, float> || std::is_same_v<T, half> ||
                 std::is_same_v<T, bfloat16> || std::is_same_v<T, std::int8_t>;

/// Describes a copy of all of `source` to `target`, each a buffer or view of device memory or a
/// contiguous range of host memory, of which one has elements of `float` and the other those of
/// `half`, `bfloat16` or `std::int8_t`.
template <class Target, class Source>
[[nodiscard]] convert_request make_convert_request(Target&& target, const Source& source,
                                                   float scale, call_site site) {
  using to = std::remove_pointer_t<decltype(std::data(target))>;
  using from = std::remove_const_t<std::remove_pointer_t<decltype(std::data(source))>>;
  static_assert(number<to> && number<from>,
                "a conversion is between float and half, bfloat16 or std::int8_t");
  convert_request made;
  made.target = std::data(target);
  made.target_bytes = detail::bytes_in(std::size(target), sizeof(to));
  made.source = std::data(source);
  made.count = std::size(source);
  made.how = {detail::number_type_of<from>(), detail::number_type_of<to>(), scale};
  made.site = site;
  return made;
}

} // namespace troupe
