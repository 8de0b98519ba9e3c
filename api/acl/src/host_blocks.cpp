#include "api/acl/src/host_blocks.hpp"

#include <bit>
#include <utility>

#include "api/acl/src/call.hpp"
#include "api/acl/src/for_good.hpp"

namespace troupe::acl {

host_blocks& host_blocks::instance() {
  return for_good<host_blocks>();
}

// A block whose runtime has ended may still be here when its address is handed out again.
void* host_blocks::keep(host_buffer<std::byte> made) {
  void* const address = made.data();
  const std::lock_guard lock(guard_);
  blocks_.insert_or_assign(std::bit_cast<std::uint64_t>(address), std::move(made));
  return address;
}

status host_blocks::free(void* address) {
  host_buffer<std::byte> leaving;  // let go without the lock
  const std::lock_guard lock(guard_);
  const auto at = blocks_.find(std::bit_cast<std::uint64_t>(address));
  if (at == blocks_.end()) {
    return bad_parameter("the address begins no block of host memory in use");
  }
  leaving = std::move(at->second);
  blocks_.erase(at);
  return {};
}

}  // namespace troupe::acl
