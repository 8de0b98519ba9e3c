// Address ranges, physical memory, and the mapping of one to the other.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <acl/acl.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/objects.hpp"
#include "api/acl/src/reservations.hpp"
#include "api/acl/src/session.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

// Sizes of pages: the ordinary one and the huge one. There is one kind here.
constexpr std::uint64_t page_kinds = 2;

std::shared_ptr<physical_object> find_physical(void* handle) {
  auto found = handle_table::instance().find(handle_kind::physical, handle);
  if (!found) throw error(invalid_handle("block of physical memory"));
  return std::static_pointer_cast<physical_object>(std::move(found));
}

status check_flags(const char* call, std::uint64_t flags, std::uint64_t kinds) {
  if (flags < kinds) return {};
  return bad_parameter(std::string(call) + ": flags of " + std::to_string(flags));
}

status reserve(const char* call, void** place, std::size_t bytes, std::size_t alignment,
               const void* wanted, std::uint64_t flags) {
  if (place == nullptr) return bad_argument(std::string(call) + ": virPtr is null");
  if (auto s = check_flags(call, flags, page_kinds); !s.ok()) return s;
  if (wanted != nullptr) return unsupported(call, "a wanted address");
  const auto device = session::instance().home().device(current_context()->device);
  if (!device) return device.error();
  const auto made = reservations::instance().reserve(device.value(), bytes, alignment);
  if (!made) return made.error();
  *place = made.value();
  return {};
}

// Which device's memory is asked for; the location's number says so.
result<device> device_of(const char* call, const aclrtPhysicalMemProp& prop) {
  if (prop.handleType != ACL_MEM_HANDLE_TYPE_NONE ||
      prop.allocationType != ACL_MEM_ALLOCATION_TYPE_PINNED || prop.memAttr < ACL_DDR_MEM ||
      prop.memAttr > ACL_HBM_MEM_P2P_HUGE1G) {
    return bad_parameter(std::string(call) + ": a type of handle, allocation or memory that is none");
  }
  if (prop.location.type != ACL_MEM_LOCATION_TYPE_DEVICE) {
    return unsupported(call, "memory of the host");
  }
  return session::instance().home().device(prop.location.id);
}

result<mapped_access> access_of(const aclrtMemAccessDesc& wanted) {
  if (wanted.location.type != ACL_MEM_LOCATION_TYPE_DEVICE) {
    return unsupported("aclrtMemSetAccess", "memory for the host");
  }
  switch (wanted.flags) {
    case ACL_RT_MEM_ACCESS_FLAGS_NONE: return mapped_access::none;
    case ACL_RT_MEM_ACCESS_FLAGS_READ: return mapped_access::read;
    case ACL_RT_MEM_ACCESS_FLAGS_READWRITE: return mapped_access::read_write;
  }
  return bad_parameter("aclrtMemSetAccess: flags of " + std::to_string(wanted.flags));
}

}  // namespace

aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment, void* expectPtr,
                                uint64_t flags) {
  return call(
      [&] { return reserve("aclrtReserveMemAddress", virPtr, size, alignment, expectPtr, flags); });
}

aclError aclrtReserveMemAddressNoUCMemory(void** virPtr, size_t size, size_t alignment,
                                          void* expectPtr, uint64_t flags) {
  return call([&] {
    return reserve("aclrtReserveMemAddressNoUCMemory", virPtr, size, alignment, expectPtr, flags);
  });
}

aclError aclrtReleaseMemAddress(void* virPtr) {
  return call([&]() -> status {
    if (virPtr == nullptr) return bad_argument("aclrtReleaseMemAddress: virPtr is null");
    return reservations::instance().release(virPtr);
  });
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size,
                             const aclrtPhysicalMemProp* prop, uint64_t flags) {
  return call([&]() -> status {
    if (handle == nullptr || prop == nullptr) {
      return bad_argument("aclrtMallocPhysical: handle or prop is null");
    }
    if (auto s = check_flags("aclrtMallocPhysical", flags, 1); !s.ok()) return s;
    const auto where = device_of("aclrtMallocPhysical", *prop);
    if (!where) return where.error();
    auto made = where.value().create_physical(size);
    if (!made) return made.error();
    *handle = new_handle(handle_kind::physical, std::make_shared<physical_object>(
                                                    physical_object{std::move(made).value()}));
    return {};
  });
}

// Mappings keep what they map.
aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
  return call([&]() -> status {
    if (handle == nullptr) return bad_argument("aclrtFreePhysical: handle is null");
    const auto gone = handle_table::instance().remove(handle_kind::physical, handle);
    return gone ? status{} : invalid_handle("block of physical memory");
  });
}

aclError aclrtMapMem(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                     uint64_t flags) {
  return call([&]() -> status {
    if (virPtr == nullptr || handle == nullptr) {
      return bad_argument("aclrtMapMem: virPtr or handle is null");
    }
    if (auto s = check_flags("aclrtMapMem", flags, 1); !s.ok()) return s;
    if (offset != 0) return bad_parameter("aclrtMapMem: offsets are reserved, 0");
    return reservations::instance().map(virPtr, size, find_physical(handle)->memory);
  });
}

aclError aclrtUnmapMem(void* virPtr) {
  return call([&]() -> status {
    if (virPtr == nullptr) return bad_argument("aclrtUnmapMem: virPtr is null");
    return reservations::instance().unmap(virPtr);
  });
}

aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop,
                                          aclrtMemGranularityOptions option,
                                          size_t* granularity) {
  return call([&]() -> status {
    if (prop == nullptr || granularity == nullptr) {
      return bad_argument("aclrtMemGetAllocationGranularity: an argument is null");
    }
    if (option != ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM &&
        option != ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED) {
      return bad_argument("aclrtMemGetAllocationGranularity: an option of " +
                          std::to_string(option));
    }
    if (auto where = device_of("aclrtMemGetAllocationGranularity", *prop); !where) {
      return where.error();
    }
    *granularity = device::mapping_granularity;
    return {};
  });
}

aclError aclrtMemRetainAllocationHandle(void* virPtr, aclrtDrvMemHandle* handle) {
  return call([&]() -> status {
    if (virPtr == nullptr || handle == nullptr) {
      return bad_argument("aclrtMemRetainAllocationHandle: virPtr or handle is null");
    }
    auto found = reservations::instance().memory_at(virPtr);
    if (!found) return found.error();
    *handle = new_handle(handle_kind::physical, std::make_shared<physical_object>(
                                                    physical_object{std::move(found).value()}));
    return {};
  });
}

aclError aclrtMemSetAccess(void* virPtr, size_t size, aclrtMemAccessDesc* desc, size_t count) {
  return call([&]() -> status {
    if (virPtr == nullptr || size == 0 || desc == nullptr || count == 0) {
      return bad_argument("aclrtMemSetAccess: an argument is null or 0");
    }
    const auto devices = session::instance().home().device_count();
    if (count > devices) {
      return bad_parameter("aclrtMemSetAccess: " + std::to_string(count) + " entries for " +
                           std::to_string(devices) + " devices");
    }
    std::vector<reservations::device_access> wanted;
    for (const auto& each : std::span(desc, count)) {
      const auto access = access_of(each);
      if (!access) return access.error();
      wanted.push_back({each.location.id, access.value()});
    }
    return reservations::instance().set_access(virPtr, size, wanted);
  });
}
