#pragma once

#include <cstddef>
#include <cstdint>

#include "actors/machine.hpp"
#include "core/status.hpp"

namespace troupe::acl {

/// What memory an address that a client holds is in.
struct memory_place {
  machine::place::kind what = machine::place::kind::ordinary;
  std::uint32_t device = 0;
  std::uint64_t context = 0;  ///< id; 0 for host memory

  [[nodiscard]] bool on_device() const noexcept { return what == machine::place::kind::device; }
  [[nodiscard]] bool pinned() const noexcept { return what == machine::place::kind::pinned; }
};

/// Where all of [address, address + bytes) is, `bytes` above zero; what the runtime does not know is
/// ordinary host memory. Failure: 107000 where it leaves its block, or begins in none in use.
[[nodiscard]] result<memory_place> find_memory(const void* address, std::size_t bytes);

}  // namespace troupe::acl
