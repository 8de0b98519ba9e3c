// How many cores programs want used: of a device, by a stream, by a thread. A runtime that runs its
// blocks on whatever threads there are has nothing to limit; programs ask for these numbers when they
// choose how many blocks to launch.

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <acl/acl.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/for_good.hpp"
#include "api/acl/src/objects.hpp"
#include "api/acl/src/session.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

struct device_limits {
  std::mutex guard;
  std::map<std::int64_t, core_limits> by_device;
};

device_limits& limited() {
  return for_good<device_limits>();
}

// The stream whose limits the thread goes by; null for none.
thread_local std::shared_ptr<stream_object> used;

result<std::size_t> place_of(const char* call, aclrtDevResLimitType type) {
  if (type == ACL_RT_DEV_RES_CUBE_CORE || type == ACL_RT_DEV_RES_VECTOR_CORE) {
    return static_cast<std::size_t>(type);
  }
  return bad_argument(std::string(call) + ": a type of " + std::to_string(type));
}

// What there is without limits.
result<std::uint32_t> cores_of(std::int64_t device, std::size_t place) {
  const auto profile = session::instance().home().profile(device);
  if (!profile) return profile.error();
  const bool vectors = place == ACL_RT_DEV_RES_VECTOR_CORE;
  return profile.value().cores * (vectors ? vector_cores_per_core : 1U);
}

status check_limit(const char* call, std::int64_t device, std::size_t place, std::uint32_t value) {
  const auto most = cores_of(device, place);
  if (!most) return most.error();
  if (value != 0 && value <= most.value()) return {};
  return bad_parameter(std::string(call) + ": " + std::to_string(value) +
                       " cores; allowed are 1 to " + std::to_string(most.value()));
}

result<std::uint32_t> device_limit(std::int64_t device, std::size_t place) {
  const auto most = cores_of(device, place);
  if (!most) return most.error();
  auto& all = limited();
  const std::lock_guard lock(all.guard);
  const auto known = all.by_device.find(device);
  const auto said = known != all.by_device.end() ? known->second[place] : 0;
  return said != 0 ? said : most.value();
}

// Of a stream that said nothing, its device's.
result<std::uint32_t> stream_limit(stream_object& which, std::size_t place) {
  {
    const std::lock_guard lock(which.guard);
    if (which.limits[place] != 0) return which.limits[place];
  }
  return device_limit(current_context()->device, place);
}

status hand_out(const char* call, std::uint32_t* value, const result<std::uint32_t>& found) {
  if (value == nullptr) return bad_argument(std::string(call) + ": value is null");
  if (!found) return found.error();
  *value = found.value();
  return {};
}

}  // namespace

aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t* value) {
  return call([&] {
    const auto place = place_of("aclrtGetDeviceResLimit", type);
    return place ? hand_out("aclrtGetDeviceResLimit", value, device_limit(deviceId, place.value()))
                 : place.error();
  });
}

aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value) {
  return call([&]() -> status {
    const auto place = place_of("aclrtSetDeviceResLimit", type);
    if (!place) return place.error();
    auto s = check_limit("aclrtSetDeviceResLimit", deviceId, place.value(), value);
    if (!s.ok()) return s;
    auto& all = limited();
    const std::lock_guard lock(all.guard);
    all.by_device[deviceId][place.value()] = value;
    return {};
  });
}

aclError aclrtResetDeviceResLimit(int32_t deviceId) {
  return call([&]() -> status {
    if (auto known = session::instance().home().profile(deviceId); !known) return known.error();
    auto& all = limited();
    const std::lock_guard lock(all.guard);
    (void)all.by_device.erase(deviceId);
    return {};
  });
}

aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t* value) {
  return call([&]() -> status {
    const auto place = place_of("aclrtGetStreamResLimit", type);
    if (!place) return place.error();
    const auto which = find_stream_for_work(stream);
    return hand_out("aclrtGetStreamResLimit", value, stream_limit(*which, place.value()));
  });
}

aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value) {
  return call([&]() -> status {
    const auto place = place_of("aclrtSetStreamResLimit", type);
    if (!place) return place.error();
    const auto which = find_stream_for_work(stream);
    auto s = check_limit("aclrtSetStreamResLimit", current_context()->device, place.value(), value);
    if (!s.ok()) return s;
    const std::lock_guard lock(which->guard);
    which->limits[place.value()] = value;
    return {};
  });
}

aclError aclrtResetStreamResLimit(aclrtStream stream) {
  return call([&]() -> status {
    const auto which = find_stream_for_work(stream);
    const std::lock_guard lock(which->guard);
    which->limits = {};
    return {};
  });
}

aclError aclrtUseStreamResInCurrentThread(aclrtStream stream) {
  return call([&]() -> status {
    used = find_stream_for_work(stream);
    return {};
  });
}

aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream) {
  return call([&]() -> status {
    if (used != find_stream_for_work(stream)) {
      return bad_parameter(
          "aclrtUnuseStreamResInCurrentThread: the thread does not go by that stream's limits");
    }
    used.reset();
    return {};
  });
}

aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t* value) {
  return call([&]() -> status {
    const auto place = place_of("aclrtGetResInCurrentThread", type);
    if (!place) return place.error();
    const auto device = current_context()->device;
    return hand_out("aclrtGetResInCurrentThread", value,
                    used ? stream_limit(*used, place.value())
                         : device_limit(device, place.value()));
  });
}
