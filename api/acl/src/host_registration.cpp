// Host memory of the program, made known to the devices. Kernels run where the host's memory is, so
// its address on a device is its own.

#include <string>

#include <acl/acl.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/session.hpp"
#include "api/src/runtime_maker.hpp"

using namespace troupe;
using namespace troupe::acl;

aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type, void** devPtr) {
  return call([&]() -> status {
    if (devPtr == nullptr) return bad_argument("aclrtHostRegister: devPtr is null");
    if (type != ACL_HOST_REGISTER_MAPPED) {
      return bad_argument("aclrtHostRegister: a type of " + std::to_string(type));
    }
    auto outcome = session::instance().home().register_host(ptr, size);
    if (outcome.ok()) *devPtr = ptr;
    return outcome;
  });
}

aclError aclrtHostRegisterV2(void* ptr, uint64_t size, uint32_t flag) {
  return call([&]() -> status {
    constexpr auto known = ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED;
    if (flag == 0 || (flag & ~known) != 0) {
      return bad_parameter("aclrtHostRegisterV2: flags of " + std::to_string(flag));
    }
    return session::instance().home().register_host(ptr, size);
  });
}

aclError aclrtHostUnregister(void* ptr) {
  return call([&]() -> status {
    if (ptr == nullptr) return bad_argument("aclrtHostUnregister: ptr is null");
    return session::instance().home().unregister_host(ptr);
  });
}

aclError aclrtHostGetDevicePointer(void* pHost, void** pDevice, uint32_t flag) {
  return call([&]() -> status {
    if (pHost == nullptr || pDevice == nullptr) {
      return bad_argument("aclrtHostGetDevicePointer: pHost or pDevice is null");
    }
    if (flag != 0) return bad_parameter("aclrtHostGetDevicePointer: flags are reserved, 0");
    const auto place = runtime_maker::home_of(session::instance().home()).locate(pHost);
    if (place.what != machine::place::kind::pinned) {
      return bad_parameter("aclrtHostGetDevicePointer: the address is in no registered range");
    }
    *pDevice = pHost;
    return {};
  });
}
