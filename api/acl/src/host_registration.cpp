// Host memory of the program, made known to the devices. Kernels run where the host's memory is, so
// its address on a device is its own.

#include <bit>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include <acl/acl.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/for_good.hpp"
#include "api/acl/src/session.hpp"
#include "api/src/runtime_maker.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

/// What programs have registered, by address. Any thread.
struct registrations {
  std::mutex guard;
  std::map<std::uint64_t, registered_memory> all;

  static registrations& instance() {
    return for_good<registrations>();
  }
};

status add(void* address, std::size_t bytes) {
  auto got = session::instance().home().register_host(address, bytes);
  if (!got) return got.error();
  auto& known = registrations::instance();
  const std::lock_guard lock(known.guard);
  known.all.insert_or_assign(std::bit_cast<std::uint64_t>(address), std::move(got).value());
  return {};
}

// Not while accepted work uses it: that is refused, and nothing has changed.
status remove(const void* address) {
  auto& known = registrations::instance();
  const std::lock_guard lock(known.guard);
  const auto found = known.all.find(std::bit_cast<std::uint64_t>(address));
  if (found == known.all.end()) {
    return bad_parameter("aclrtHostUnregister: no registered range begins at the address");
  }
  if (auto s = found->second.release(); !s.ok()) return s;
  known.all.erase(found);
  return {};
}

}  // namespace

aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type, void** devPtr) {
  return call([&]() -> status {
    if (devPtr == nullptr) return bad_argument("aclrtHostRegister: devPtr is null");
    if (type != ACL_HOST_REGISTER_MAPPED) {
      return bad_argument("aclrtHostRegister: a type of " + std::to_string(type));
    }
    auto outcome = add(ptr, size);
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
    return add(ptr, size);
  });
}

aclError aclrtHostUnregister(void* ptr) {
  return call([&]() -> status {
    if (ptr == nullptr) return bad_argument("aclrtHostUnregister: ptr is null");
    return remove(ptr);
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
