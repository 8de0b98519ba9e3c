#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "core/status.hpp"
#include "troupe/buffer.hpp"

namespace troupe::acl {

/// The pinned host memory that clients hold by address: who owns it, so that it can be freed. Device
/// memory is the runtime's own to find (`context::allocate_raw`). Any thread.
class host_blocks {
 public:
  /// Takes `made` over; its address.
  void* keep(host_buffer<std::byte> made);

  /// Frees what begins at `address`. 107000 for what is not here: unknown, within a block, freed
  /// already.
  status free(void* address);

  [[nodiscard]] static host_blocks& instance();

 private:
  std::mutex guard_;
  std::map<std::uint64_t, host_buffer<std::byte>> blocks_;  // by address, for lookups only
};

}  // namespace troupe::acl
