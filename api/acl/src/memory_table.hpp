#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <variant>

#include "core/status.hpp"
#include "troupe/buffer.hpp"

namespace troupe::acl {

/// The memory that clients hold by address: who owns it, so that it can be freed. Any thread.
class memory_table {
 public:
  enum class kind : unsigned char { device, host };

  /// Takes `made` over; its address.
  void* keep(buffer<std::byte> made, std::uint32_t device);
  void* keep(host_buffer<std::byte> made);

  /// Frees what begins at `address`. 107000 for what this table does not hold as `kind`: unknown,
  /// within a block, freed already.
  status free(void* address, kind what);

  /// What is known of the block that `address` lies in.
  struct place {
    kind what;
    std::uint32_t device;
    std::byte* begin;
    std::size_t bytes;
    std::uint64_t context;  ///< id; 0 for host memory
  };
  [[nodiscard]] std::optional<place> find(const void* address) const;

  [[nodiscard]] static memory_table& instance();

 private:
  struct entry {
    std::variant<buffer<std::byte>, host_buffer<std::byte>> memory;
    std::uint32_t device = 0;
  };

  mutable std::mutex guard_;
  std::map<std::uint64_t, entry> blocks_;  // by address, for lookups only
};

}  // namespace troupe::acl
