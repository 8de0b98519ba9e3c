// A device in trouble: what its memory has lost, the abort of its work, and its repair.

#include <algorithm>
#include <string>

#include <acl/acl.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/session.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

// 36 minutes.
constexpr std::uint32_t abort_limit_ms_max = 36 * 60 * 1000;

device device_of(std::int64_t index) {
  return session::instance().home().device(index).value();
}

// What the memory fault of `d` may have overwritten; nothing without one.
std::vector<memory_part> lost_parts(const device& d) {
  auto fault = d.fault();
  return fault ? std::move(fault->parts) : std::vector<memory_part>{};
}

aclrtMemUceInfo info_of(const memory_part& part) {
  aclrtMemUceInfo made{};
  made.addr = const_cast<void*>(part.base);
  made.len = part.bytes;
  return made;
}

bool names(const aclrtMemUceInfo& said, const memory_part& part) {
  return said.addr == part.base && said.len == part.bytes;
}

// The repair is of all that was lost: a program that knows of less would use the rest as it is.
status repair(const char* call, std::int64_t index, const aclrtMemUceInfo* said,
              std::size_t count) {
  const auto which = device_of(index);
  const auto lost = lost_parts(which);
  for (const auto& part : lost) {
    const bool named = std::any_of(said, said + count,
                                   [&](const auto& each) { return names(each, part); });
    if (named) continue;
    return bad_parameter(std::string(call) + ": of " + std::to_string(lost.size()) +
                         " parts of memory that were lost one of " + std::to_string(part.bytes) +
                         " bytes is not named");
  }
  for (const auto* each = said; each != said + count; ++each) {
    const bool known = std::any_of(lost.begin(), lost.end(),
                                   [&](const auto& part) { return names(*each, part); });
    if (known) continue;
    return bad_parameter(std::string(call) + ": a part of " + std::to_string(each->len) +
                         " bytes was not lost");
  }
  return which.repair();
}

status describe(const device& which, aclrtErrorInfo& into) {
  into = {};
  into.errorType = ACL_RT_NO_ERROR;
  switch (which.health()) {
    case device_health::faulted:
    case device_health::aborted: {
      const auto lost = lost_parts(which);
      into.errorType = ACL_RT_ERROR_MEMORY;
      into.tryRepair = 1;
      into.hasDetail = 1;
      auto& told = into.detail.uceInfo;
      told.arraySize = std::min<std::size_t>(lost.size(), ACL_RT_MEM_UCE_INFO_MAX_NUM);
      std::transform(lost.begin(), lost.begin() + static_cast<std::ptrdiff_t>(told.arraySize),
                     told.memUceInfoArray, info_of);
      return {};
    }
    case device_health::lost:
      into.errorType = ACL_RT_ERROR_OTHERS;
      return {};
    default:
      return {};
  }
}

}  // namespace

// All parts of a fault fit what the interface has room for.
static_assert(memory_fault::parts_max <= ACL_RT_MEM_UCE_INFO_MAX_NUM);

aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout) {
  return call([&]() -> status {
    if (timeout > abort_limit_ms_max) {
      return bad_parameter("aclrtDeviceTaskAbort: a limit of " + std::to_string(timeout) +
                           " ms; the most is " + std::to_string(abort_limit_ms_max));
    }
    return device_of(deviceId).abort(timeout == 0 ? forever : troupe::timeout(timeout));
  });
}

aclError aclrtGetMemUceInfo(int32_t deviceId, aclrtMemUceInfo* memUceInfoArray, size_t arraySize,
                            size_t* retSize) {
  return call([&]() -> status {
    if (memUceInfoArray == nullptr || retSize == nullptr || arraySize == 0) {
      return bad_argument("aclrtGetMemUceInfo: an argument is null, or there is room for nothing");
    }
    const auto lost = lost_parts(device_of(deviceId));
    if (lost.size() > arraySize) {
      return bad_parameter("aclrtGetMemUceInfo: " + std::to_string(lost.size()) +
                           " parts of memory were lost, more than the room for " +
                           std::to_string(arraySize));
    }
    std::transform(lost.begin(), lost.end(), memUceInfoArray, info_of);
    *retSize = lost.size();
    return {};
  });
}

aclError aclrtMemUceRepair(int32_t deviceId, aclrtMemUceInfo* memUceInfoArray, size_t arraySize) {
  return call([&]() -> status {
    if (memUceInfoArray == nullptr || arraySize == 0) {
      return bad_argument("aclrtMemUceRepair: null, or an array of nothing");
    }
    if (arraySize > MAX_MEM_UCE_INFO_ARRAY_SIZE) {
      return bad_parameter("aclrtMemUceRepair: an array of " + std::to_string(arraySize) +
                           "; the most is " + std::to_string(MAX_MEM_UCE_INFO_ARRAY_SIZE));
    }
    return repair("aclrtMemUceRepair", deviceId, memUceInfoArray, arraySize);
  });
}

aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo* errorInfo) {
  return call([&]() -> status {
    if (errorInfo == nullptr) return bad_argument("aclrtGetErrorVerbose: errorInfo is null");
    return describe(device_of(deviceId), *errorInfo);
  });
}

aclError aclrtRepairError(int32_t deviceId, const aclrtErrorInfo* errorInfo) {
  return call([&]() -> status {
    if (errorInfo == nullptr) return bad_argument("aclrtRepairError: errorInfo is null");
    const auto type = errorInfo->errorType;
    if (type != ACL_RT_ERROR_MEMORY) {
      return type == ACL_RT_NO_ERROR
                 ? bad_parameter("aclrtRepairError: there is no error to repair")
                 : unsupported("aclrtRepairError", "errors of type " + std::to_string(type));
    }
    const auto& said = errorInfo->detail.uceInfo;
    if (said.arraySize > ACL_RT_MEM_UCE_INFO_MAX_NUM) {
      return bad_parameter("aclrtRepairError: an array of " + std::to_string(said.arraySize) +
                           "; the most is " + std::to_string(ACL_RT_MEM_UCE_INFO_MAX_NUM));
    }
    return repair("aclrtRepairError", deviceId, said.memUceInfoArray, said.arraySize);
  });
}
