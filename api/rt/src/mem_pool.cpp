#include <bit>
#include <map>
#include <mutex>
#include <string>

#include <rt.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/for_good.hpp"
#include "core/device_heap.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

constexpr std::uint64_t alignment = 64;

struct divided {
  device_heap heap;
  std::size_t bytes;
  std::size_t blocks = 0;
};

// The pools that have blocks out, by the address of their memory.
struct pools {
  std::mutex guard;
  std::map<std::uint64_t, divided> by_address;
};

pools& all() {
  return for_good<pools>();
}

std::uint64_t key_of(const void* address) {
  return std::bit_cast<std::uint64_t>(address);
}

}  // namespace

rtError_t mem_pool_alloc(void* pool, size_t pool_bytes, void** block, size_t bytes) {
  return call([&]() -> status {
    if (pool == nullptr || block == nullptr || pool_bytes == 0 || bytes == 0) {
      return bad_argument("mem_pool_alloc: an argument is null or 0");
    }
    auto& known = all();
    const std::lock_guard lock(known.guard);
    auto at = known.by_address.find(key_of(pool));
    if (at == known.by_address.end()) {
      at = known.by_address
               .emplace(key_of(pool), divided{device_heap(pool_bytes, alignment), pool_bytes})
               .first;
    } else if (at->second.bytes != pool_bytes) {
      return bad_parameter("mem_pool_alloc: the pool is one of " +
                           std::to_string(at->second.bytes) + " bytes, not of " +
                           std::to_string(pool_bytes));
    }
    const auto given = at->second.heap.allocate(bytes);
    if (!given) {
      if (at->second.blocks == 0) known.by_address.erase(at);
      return make_status(code::memory_allocation,
                         "mem_pool_alloc: no hole of " + std::to_string(bytes) +
                             " bytes in a pool of " + std::to_string(pool_bytes));
    }
    ++at->second.blocks;
    *block = static_cast<std::byte*>(pool) + given->offset;
    return {};
  });
}

rtError_t mem_pool_free(void* pool, void* block) {
  return call([&]() -> status {
    if (pool == nullptr || block == nullptr) {
      return bad_argument("mem_pool_free: an argument is null");
    }
    auto& known = all();
    const std::lock_guard lock(known.guard);
    const auto at = known.by_address.find(key_of(pool));
    const auto freed = at == known.by_address.end()
                           ? device_heap::free_result{}
                           : at->second.heap.free(key_of(block) - key_of(pool));
    if (freed.outcome != device_heap::free_outcome::freed) {
      return bad_parameter("mem_pool_free: the address begins no block of the pool in use");
    }
    if (--at->second.blocks == 0) known.by_address.erase(at);
    return {};
  });
}
