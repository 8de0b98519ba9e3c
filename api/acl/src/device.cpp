#include <array>
#include <cstring>
#include <string>

#include <acl/acl.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/device_set.hpp"
#include "api/acl/src/session.hpp"
#include "core/task.hpp"
#include "troupe/current.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

// As `vector_cores_per_core`.
constexpr std::int64_t l2_cache_bytes = 192LL << 20;

runtime& home() {
  return session::instance().home();
}

status copy_number(const char* call, std::int32_t from, std::int32_t* to) {
  if (to == nullptr) return bad_argument(std::string(call) + ": the place for the number is null");
  if (auto known = home().profile(from); !known) return known.error();
  *to = from;
  return {};
}

status synchronize_device(std::int32_t limit_ms) {
  return current_context()->context.synchronize(timeout(limit_ms));
}

}  // namespace

aclError aclrtSetDevice(int32_t deviceId) {
  return call([&] { return device_set::instance().set(deviceId); });
}

aclError aclrtResetDevice(int32_t deviceId) {
  return call([&] { return device_set::instance().reset(deviceId, false); });
}

aclError aclrtGetDevice(int32_t* deviceId) {
  return call([&]() -> status {
    if (deviceId == nullptr) return bad_argument("aclrtGetDevice: deviceId is null");
    *deviceId = static_cast<std::int32_t>(current_context()->device);
    return {};
  });
}

aclError aclrtGetDeviceCount(uint32_t* count) {
  return call([&]() -> status {
    if (count == nullptr) return bad_argument("aclrtGetDeviceCount: count is null");
    *count = static_cast<std::uint32_t>(home().device_count());
    return {};
  });
}

aclError aclrtGetRunMode(aclrtRunMode* runMode) {
  return call([&]() -> status {
    if (runMode == nullptr) return bad_argument("aclrtGetRunMode: runMode is null");
    *runMode = ACL_HOST;
    return {};
  });
}

aclError aclrtSetTsDevice(aclrtTsId tsId) {
  return call([&]() -> status {
    if (tsId == ACL_TS_ID_AICORE || tsId == ACL_TS_ID_AIVECTOR) return {};
    return bad_argument("aclrtSetTsDevice: tsId is " + std::to_string(tsId) + ", not 0 or 1");
  });
}

aclError aclrtSynchronizeDevice() {
  return call([&] { return synchronize_device(-1); });
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
  return call([&] { return synchronize_device(timeout); });
}

const char* aclrtGetSocName() {
  return call_for("Ascend910", [&] {
    auto profile = home().profile(0);
    if (!profile) return "Ascend910";
    std::string name;
    for (const char each : profile.value().name) {
      if (each != ' ') name += each;  // as in product names
    }
    return intern_name(name);
  });
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value) {
  return call([&]() -> status {
    if (value == nullptr) return bad_argument("aclGetDeviceCapability: value is null");
    auto profile = home().profile(deviceId);
    if (!profile) return profile.error();
    const std::int64_t cores = profile.value().cores;
    switch (deviceInfo) {
      case ACL_DEVICE_INFO_AI_CORE_NUM:
        *value = cores;
        return {};
      case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
        *value = cores * vector_cores_per_core;
        return {};
      case ACL_DEVICE_INFO_L2_SIZE:
        *value = l2_cache_bytes;
        return {};
      case ACL_DEVICE_INFO_UNDEFINED:
        break;
    }
    return bad_argument("aclGetDeviceCapability: there is no figure of number " +
                        std::to_string(deviceInfo));
  });
}

aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t* value) {
  return call([&]() -> status {
    if (value == nullptr) return bad_argument("aclrtGetDeviceInfo: value is null");
    auto profile = home().profile(deviceId);
    if (!profile) return profile.error();
    const std::int64_t cores = profile.value().cores;
    switch (attr) {
      case ACL_DEV_ATTR_AICPU_CORE_NUM:
        *value = 0;
        return {};
      case ACL_DEV_ATTR_AICORE_CORE_NUM:
      case ACL_DEV_ATTR_CUBE_CORE_NUM:
        *value = cores;
        return {};
      case ACL_DEV_ATTR_VECTOR_CORE_NUM:
        *value = cores * vector_cores_per_core;
        return {};
      case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
        *value = static_cast<std::int64_t>(profile.value().memory_bytes);
        return {};
      case ACL_DEV_ATTR_L2_CACHE_SIZE:
        *value = l2_cache_bytes;
        return {};
      case ACL_DEV_ATTR_PHY_CHIP_ID:
        *value = deviceId;
        return {};
      case ACL_DEV_ATTR_IS_VIRTUAL:
        *value = 0;
        return {};
      default:
        return unsupported("aclrtGetDeviceInfo", "no figure of number " + std::to_string(attr));
    }
  });
}

aclError aclrtGetDeviceUtilizationRate(int32_t deviceId, aclrtUtilizationInfo* utilizationInfo) {
  return call([&]() -> status {
    if (utilizationInfo == nullptr) {
      return bad_argument("aclrtGetDeviceUtilizationRate: utilizationInfo is null");
    }
    if (utilizationInfo->utilizationExtend != nullptr) {
      return bad_argument("aclrtGetDeviceUtilizationRate: the extension is reserved");
    }
    auto device = home().device(deviceId);
    if (!device) return device.error();
    auto memory = device.value().memory();
    if (!memory) return memory.error();
    const auto percent = static_cast<std::int32_t>(100 * device.value().compute().utilisation);
    utilizationInfo->cubeUtilization = percent;
    utilizationInfo->vectorUtilization = percent;
    utilizationInfo->aicpuUtilization = DEVICE_UTILIZATION_NOT_SUPPORT;
    utilizationInfo->memoryUtilization =
        static_cast<std::int32_t>(100 * memory.value().used / memory.value().total);
    return {};
  });
}

aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid* uuid) {
  return call([&]() -> status {
    if (uuid == nullptr) return bad_argument("aclrtDeviceGetUuid: uuid is null");
    if (auto known = home().profile(deviceId); !known) return known.error();
    std::memset(uuid->bytes, 0, sizeof uuid->bytes);
    std::memcpy(uuid->bytes, "troupe", 6);
    uuid->bytes[15] = static_cast<char>(deviceId);
    return {};
  });
}

aclError aclrtGetLogicDevIdByUserDevId(int32_t userDevId, int32_t* logicDevId) {
  return call([&] { return copy_number("aclrtGetLogicDevIdByUserDevId", userDevId, logicDevId); });
}

aclError aclrtGetPhyDevIdByLogicDevId(int32_t logicDevId, int32_t* phyDevId) {
  return call([&] { return copy_number("aclrtGetPhyDevIdByLogicDevId", logicDevId, phyDevId); });
}

aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t* flags, int32_t* active) {
  return call([&]() -> status {
    if (flags == nullptr || active == nullptr) {
      return bad_argument("aclrtGetPrimaryCtxState: flags or active is null");
    }
    if (auto known = home().profile(deviceId); !known) return known.error();
    *flags = 0;
    *active = device_set::instance().active(deviceId) ? 1 : 0;
    return {};
  });
}
