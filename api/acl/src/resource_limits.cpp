// How many cores a device or stream may use: all of them, as limits cannot be set.

#include <string>

#include <acl/acl.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/objects.hpp"
#include "api/acl/src/session.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

status cores_of(const char* call, std::int64_t device, aclrtDevResLimitType type,
                std::uint32_t* value) {
  if (value == nullptr) return bad_argument(std::string(call) + ": value is null");
  if (type != ACL_RT_DEV_RES_CUBE_CORE && type != ACL_RT_DEV_RES_VECTOR_CORE) {
    return bad_argument(std::string(call) + ": a type of " + std::to_string(type));
  }
  const auto profile = session::instance().home().profile(device);
  if (!profile) return profile.error();
  const auto vectors = type == ACL_RT_DEV_RES_VECTOR_CORE ? vector_cores_per_core : 1U;
  *value = profile.value().cores * vectors;
  return {};
}

}  // namespace

aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t* value) {
  return call([&] { return cores_of("aclrtGetDeviceResLimit", deviceId, type, value); });
}

aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t* value) {
  return call([&] {
    (void)stream_for_work(stream);
    return cores_of("aclrtGetStreamResLimit", current_context()->device, type, value);
  });
}

aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t* value) {
  return call([&] {
    return cores_of("aclrtGetResInCurrentThread", current_context()->device, type, value);
  });
}
