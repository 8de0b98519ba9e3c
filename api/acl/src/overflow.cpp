#include "api/acl/src/overflow.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <string>

#include <acl/acl.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/memory_place.hpp"
#include "core/device_span.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

// What a status takes: a word, and others that are 0.
constexpr std::size_t status_bytes = 64;
using status_word = std::uint32_t;

result<device_span<status_word>> place_of(void* address, std::size_t bytes) {
  if (address == nullptr) return bad_argument("aclrtGetOverflowStatus: outputAddr is null");
  if (bytes < status_bytes) {
    return bad_parameter("aclrtGetOverflowStatus: room for " + std::to_string(bytes) +
                         " bytes; a status takes " + std::to_string(status_bytes));
  }
  if (std::bit_cast<std::uint64_t>(address) % sizeof(status_word) != 0) {
    return bad_parameter("aclrtGetOverflowStatus: outputAddr is no multiple of 4");
  }
  const auto found = find_memory(address, status_bytes);
  if (!found) return found.error();
  if (!found.value().on_device()) {
    return bad_parameter("aclrtGetOverflowStatus: outputAddr is in no device's memory");
  }
  return device_span<status_word>(static_cast<status_word*>(address),
                                  status_bytes / sizeof(status_word), found.value().context);
}

}  // namespace

status troupe::acl::set_overflow_watch(void* stream, std::uint32_t flag) {
  if (flag > 1) {
    return bad_parameter("an overflow switch of " + std::to_string(flag) + ", not 0 or 1");
  }
  stream_object_for_work(stream).watches_overflow.store(flag == 1, std::memory_order_relaxed);
  return {};
}

aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag) {
  return call([&] { return set_overflow_watch(stream, flag); });
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t* flag) {
  return call([&]() -> status {
    if (flag == nullptr) return bad_argument("aclrtGetStreamOverflowSwitch: flag is null");
    *flag = stream_object_for_work(stream).watches_overflow.load(std::memory_order_relaxed) ? 1 : 0;
    return {};
  });
}

aclError aclrtGetOverflowStatus(void* outputAddr, size_t outputSize, aclrtStream stream) {
  return call([&]() -> status {
    const auto place = place_of(outputAddr, outputSize);
    if (!place) return place.error();
    auto& on = stream_object_for_work(stream);
    return on.stream.launch(
        "overflow status",
        [seen = on.overflowed](std::span<status_word> to) {
          std::fill(to.begin(), to.end(), 0);
          to[0] = seen->load(std::memory_order_acquire) ? 1 : 0;
        },
        place.value());
  });
}

aclError aclrtResetOverflowStatus(aclrtStream stream) {
  return call([&] {
    auto& on = stream_object_for_work(stream);
    return on.stream.launch("overflow reset", [seen = on.overflowed] {
      seen->store(false, std::memory_order_release);
    });
  });
}

// Kernels are code of the host: its arithmetic does not saturate.
aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) {
  return call([&]() -> status {
    need_context();
    if (mode == ACL_RT_OVERFLOW_MODE_INFNAN) return {};
    if (mode == ACL_RT_OVERFLOW_MODE_SATURATION) {
      return unsupported("aclrtSetDeviceSatMode", "arithmetic that saturates");
    }
    return bad_argument("aclrtSetDeviceSatMode: a mode of " + std::to_string(mode));
  });
}
