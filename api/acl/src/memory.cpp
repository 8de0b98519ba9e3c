#include <cstdint>
#include <cstring>
#include <string>

#include <acl/acl.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/host_blocks.hpp"
#include "api/acl/src/memory_place.hpp"
#include "api/acl/src/objects.hpp"
#include "api/acl/src/session.hpp"
#include "troupe/current.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

// Sizes are rounded up to a multiple of 32, and 32 bytes lie behind each block.
constexpr std::size_t grain = 32;
constexpr std::uint32_t page_bytes = 4096;

constexpr int policies = ACL_MEM_MALLOC_HUGE1G_ONLY_P2P + 1;
constexpr int policy_marks =
    ACL_MEM_TYPE_LOW_BAND_WIDTH | ACL_MEM_TYPE_HIGH_BAND_WIDTH | ACL_MEM_ACCESS_USER_SPACE_READONLY;

status allocate(const char* call, void** place, std::size_t size, int policy, std::size_t behind) {
  if (place == nullptr) return bad_argument(std::string(call) + ": the place for it is null");
  if (size == 0) return bad_argument(std::string(call) + ": a size of 0 bytes");
  const auto base = policy & ~policy_marks;
  if (base < 0 || base >= policies) {
    return bad_argument(std::string(call) + ": a policy of " + std::to_string(policy));
  }
  if (size > SIZE_MAX - 2 * grain) {
    return bad_parameter(std::string(call) + ": " + std::to_string(size) +
                         " bytes, which no memory has");
  }
  const auto whose = current_context();
  const auto made = whose->context.allocate_raw((size + grain - 1) / grain * grain + behind);
  if (!made) return made.error();
  *place = made.value();
  return {};
}

status allocate_host(const char* call, void** place, std::size_t size) {
  if (place == nullptr) return bad_argument(std::string(call) + ": the place for it is null");
  if (size == 0) return bad_argument(std::string(call) + ": a size of 0 bytes");
  need_context();
  auto made = session::instance().home().allocate_host<std::byte>(size);
  if (!made) return made.error();
  *place = host_blocks::instance().keep(std::move(made).value());
  return {};
}

}  // namespace

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return call([&] { return allocate("aclrtMalloc", devPtr, size, policy, grain); });
}

aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return call([&] { return allocate("aclrtMallocAlign32", devPtr, size, policy, 0); });
}

aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return call([&] { return allocate("aclrtMallocCached", devPtr, size, policy, grain); });
}

aclError aclrtFree(void* devPtr) {
  return call([&] { return session::instance().home().free_raw(devPtr); });
}

aclError aclrtMallocHost(void** hostPtr, size_t size) {
  return call([&] { return allocate_host("aclrtMallocHost", hostPtr, size); });
}

aclError aclrtMallocHostWithCfg(void** ptr, uint64_t size, aclrtMallocConfig* cfg) {
  return call([&]() -> status {
    if (cfg != nullptr && cfg->numAttrs != 0 && cfg->attrs == nullptr) {
      return bad_argument("aclrtMallocHostWithCfg: attributes are announced and null");
    }
    return allocate_host("aclrtMallocHostWithCfg", ptr, size);
  });
}

aclError aclrtFreeHost(void* hostPtr) {
  return call([&]() -> status {
    if (hostPtr == nullptr) return bad_argument("aclrtFreeHost: the address is null");
    (void)session::instance().home();
    return host_blocks::instance().free(hostPtr);
  });
}

aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes) {
  return call([&]() -> status {
    if (ptr == nullptr || attributes == nullptr) {
      return bad_argument("aclrtPointerGetAttributes: an argument is null");
    }
    const auto found = find_memory(ptr, 1);
    *attributes = {};
    attributes->location.type = ACL_MEM_LOCATION_TYPE_UNREGISTERED;
    if (!found || (!found.value().on_device() && !found.value().pinned())) return {};
    attributes->location.type = found.value().on_device() ? ACL_MEM_LOCATION_TYPE_DEVICE
                                                          : ACL_MEM_LOCATION_TYPE_HOST;
    attributes->location.id = found.value().device;
    attributes->pageSize = page_bytes;
    return {};
  });
}

// There is one memory, and no kind of it is kept apart.
aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total) {
  return call([&]() -> status {
    if (free == nullptr || total == nullptr) {
      return bad_argument("aclrtGetMemInfo: free or total is null");
    }
    if (attr < ACL_DDR_MEM || attr > ACL_HBM_MEM_P2P_HUGE1G) {
      return bad_argument("aclrtGetMemInfo: a kind of memory of " + std::to_string(attr));
    }
    const auto seen = current::memory();
    if (!seen) return seen.error();
    *free = seen.value().free;
    *total = seen.value().total;
    return {};
  });
}

// The device's memory is counted as a whole, whichever part of a program has it.
aclError aclrtGetMemUsageInfo(uint32_t deviceId, aclrtMemUsageInfo* memUsageInfo, size_t inputNum,
                              size_t* outputNum) {
  return call([&]() -> status {
    if (memUsageInfo == nullptr || outputNum == nullptr || inputNum == 0) {
      return bad_argument("aclrtGetMemUsageInfo: an argument is null, or there is no room");
    }
    const auto device = session::instance().home().device(deviceId);
    if (!device) return device.error();
    const auto seen = device.value().memory();
    if (!seen) return seen.error();
    *memUsageInfo = {};
    std::strcpy(memUsageInfo->name, "device memory");
    memUsageInfo->curMemSize = seen.value().used;
    memUsageInfo->memPeakSize = seen.value().high_water;
    *outputNum = 1;
    return {};
  });
}

// The host writes to the same memory as the devices: there is no cache between them.
aclError aclrtMemFlush(void* devPtr, size_t size) {
  return call([&] {
    return devPtr != nullptr && size != 0 ? status{}
                                          : bad_argument("aclrtMemFlush: null or no bytes");
  });
}

aclError aclrtMemInvalidate(void* devPtr, size_t size) {
  return call([&] {
    return devPtr != nullptr && size != 0 ? status{}
                                          : bad_argument("aclrtMemInvalidate: null or no bytes");
  });
}

// Nor is there one to fill in advance or to write back.
aclError aclrtCmoAsync(void* src, size_t size, aclrtCmoType cmoType, aclrtStream stream) {
  return call([&]() -> status {
    if (src == nullptr || size == 0) return bad_argument("aclrtCmoAsync: null or no bytes");
    if (cmoType < ACL_RT_CMO_TYPE_PREFETCH || cmoType > ACL_RT_CMO_TYPE_FLUSH) {
      return bad_argument("aclrtCmoAsync: a type of " + std::to_string(cmoType));
    }
    (void)stream_for_work(stream);
    const auto found = find_memory(src, size);
    if (!found) return found.error();
    return found.value().on_device()
               ? status{}
               : bad_parameter("aclrtCmoAsync: the address is in no device's memory");
  });
}
