#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include <acl/acl.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/copy_kinds.hpp"
#include "api/acl/src/memory_place.hpp"
#include "api/acl/src/objects.hpp"
#include "core/device_span.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

copy_request request_of(void* dst, std::size_t room, const void* src, std::size_t count) {
  copy_request made;
  made.target = dst;
  made.target_bytes = room;
  made.source = src;
  made.bytes = count;
  made.site = call_site::here();
  return made;
}

status copy_async(const char* call, copy_request request, aclrtMemcpyKind kind,
                  aclrtStream stream) {
  if (request.bytes == 0) return {};
  if (request.target == nullptr || request.source == nullptr) {
    return bad_argument(std::string(call) + ": target or source is null");
  }
  const auto direction = kind_of(call, kind);
  if (!direction) return direction.error();
  request.kind = direction.value();
  return stream_for_work(stream).copy_raw(request);
}

// What a fill checks before it looks at its target.
status check_fill(const char* call, const void* target, std::size_t room, std::size_t count) {
  if (target == nullptr) return bad_argument(std::string(call) + ": the target is null");
  if (count <= room) return {};
  return bad_parameter(std::string(call) + ": " + std::to_string(count) + " bytes into room for " +
                       std::to_string(room));
}

// Where a fill's target is: all of it in one block of device or pinned memory in use.
result<memory_place> target_of_fill(const char* call, const void* target, std::size_t count) {
  auto found = find_memory(target, count);
  if (!found || found.value().on_device() || found.value().pinned()) return found;
  return bad_parameter(std::string(call) + ": the target is in no block in use");
}

// Device memory is written in pieces by blocking copies, as the host must not write it itself.
status fill_device(const context& by, std::byte* target, std::size_t count, int value) {
  std::array<std::byte, 65536> piece;
  std::memset(piece.data(), value, std::min(count, piece.size()));
  for (std::size_t done = 0; done < count; done += piece.size()) {
    const auto bytes = std::min(count - done, piece.size());
    if (auto s = by.copy_raw(request_of(target + done, bytes, piece.data(), bytes)); !s.ok()) {
      return s;
    }
  }
  return {};
}

}  // namespace

result<copy_kind> troupe::acl::kind_of(const char* call, aclrtMemcpyKind kind) {
  switch (kind) {
    case ACL_MEMCPY_HOST_TO_HOST:
      return copy_kind::host_to_host;
    case ACL_MEMCPY_HOST_TO_DEVICE:
    case ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE:
      return copy_kind::host_to_device;
    case ACL_MEMCPY_DEVICE_TO_HOST:
      return copy_kind::device_to_host;
    case ACL_MEMCPY_DEVICE_TO_DEVICE:
    case ACL_MEMCPY_INNER_DEVICE_TO_DEVICE:
    case ACL_MEMCPY_INTER_DEVICE_TO_DEVICE:
      return copy_kind::device_to_device;
    case ACL_MEMCPY_DEFAULT:
      return copy_kind::automatic;
  }
  return bad_argument(std::string(call) + ": a kind of " + std::to_string(kind));
}

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                     aclrtMemcpyKind /*kind*/) {
  return call([&]() -> status {
    if (count == 0) return {};
    if (dst == nullptr || src == nullptr) {
      return bad_argument("aclrtMemcpy: target or source is null");
    }
    return current_context()->context.copy_raw(request_of(dst, destMax, src, count));
  });
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream) {
  return call([&] {
    return copy_async("aclrtMemcpyAsync", request_of(dst, destMax, src, count), kind, stream);
  });
}

// It lets the caller wait where host memory is not pinned, which all copies do here.
aclError aclrtMemcpyAsyncWithCondition(void* dst, size_t destMax, const void* src, size_t count,
                                       aclrtMemcpyKind kind, aclrtStream stream) {
  return call([&] {
    return copy_async("aclrtMemcpyAsyncWithCondition", request_of(dst, destMax, src, count), kind,
                      stream);
  });
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  return call([&]() -> status {
    if (count == 0) return {};
    if (auto s = check_fill("aclrtMemset", devPtr, maxCount, count); !s.ok()) return s;
    const auto whose = current_context();
    const auto found = target_of_fill("aclrtMemset", devPtr, count);
    if (!found) return found.error();
    return fill_device(whose->context, static_cast<std::byte*>(devPtr), count, value);
  });
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream) {
  return call([&]() -> status {
    if (count == 0) return {};
    if (auto s = check_fill("aclrtMemsetAsync", devPtr, maxCount, count); !s.ok()) return s;
    auto& line = stream_for_work(stream);
    const auto found = target_of_fill("aclrtMemsetAsync", devPtr, count);
    if (!found) return found.error();
    const auto byte = static_cast<unsigned char>(value);
    if (found.value().pinned()) {
      return line.callback("fill", [devPtr, byte, count] { std::memset(devPtr, byte, count); });
    }
    return line.fill_bytes(
        device_span<std::byte>(static_cast<std::byte*>(devPtr), count, found.value().context),
        byte);
  });
}
