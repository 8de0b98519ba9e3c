#include "actors/copy_loop.hpp"

#include <algorithm>
#include <cstring>

namespace troupe {

std::size_t copy_chunk(copy_payload& copy, std::size_t chunk_bytes) noexcept {
  const auto count = std::min(chunk_bytes, copy.bytes - copy.done);
  auto* target = copy.target + copy.done;
  if (copy.source != nullptr) {
    std::memcpy(target, copy.source + copy.done, count);
  } else {
    std::memset(target, copy.value, count);
  }
  copy.done += count;
  return count;
}

} // namespace troupe
