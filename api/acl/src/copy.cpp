#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include <acl/acl.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/memory_table.hpp"
#include "api/acl/src/objects.hpp"
#include "core/device_span.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

result<copy_kind> kind_of(const char* call, aclrtMemcpyKind kind) {
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

copy_request request_of(void* dst, std::size_t room, const void* src, std::size_t count) {
  copy_request made;
  made.target = dst;
  made.target_bytes = room;
  made.source = src;
  made.bytes = count;
  made.site = call_site::here();
  return made;
}

// What a fill checks before it looks at its target.
status check_fill(const char* call, const void* target, std::size_t room, std::size_t count) {
  if (target == nullptr) return bad_argument(std::string(call) + ": the target is null");
  if (count <= room) return {};
  return bad_parameter(std::string(call) + ": " + std::to_string(count) + " bytes into room for " +
                       std::to_string(room));
}

status check_inside(const char* call, const memory_table::place& block, const void* target,
                    std::size_t count) {
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(target) - block.begin);
  if (count <= block.bytes - offset) return {};
  return bad_parameter(std::string(call) + ": " + std::to_string(count) + " bytes at byte " +
                       std::to_string(offset) + " of a block of " + std::to_string(block.bytes));
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
  return call([&]() -> status {
    if (count == 0) return {};
    if (dst == nullptr || src == nullptr) {
      return bad_argument("aclrtMemcpyAsync: target or source is null");
    }
    const auto direction = kind_of("aclrtMemcpyAsync", kind);
    if (!direction) return direction.error();
    auto request = request_of(dst, destMax, src, count);
    request.kind = direction.value();
    return stream_for_work(stream).copy_raw(request);
  });
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  return call([&]() -> status {
    if (count == 0) return {};
    if (auto s = check_fill("aclrtMemset", devPtr, maxCount, count); !s.ok()) return s;
    const auto whose = current_context();
    const auto block = memory_table::instance().find(devPtr);
    if (!block) return bad_parameter("aclrtMemset: the target is in no block in use");
    if (auto s = check_inside("aclrtMemset", *block, devPtr, count); !s.ok()) return s;
    return fill_device(whose->context, static_cast<std::byte*>(devPtr), count, value);
  });
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream) {
  return call([&]() -> status {
    if (count == 0) return {};
    if (auto s = check_fill("aclrtMemsetAsync", devPtr, maxCount, count); !s.ok()) return s;
    auto& line = stream_for_work(stream);
    const auto block = memory_table::instance().find(devPtr);
    if (!block) return bad_parameter("aclrtMemsetAsync: the target is in no block in use");
    if (auto s = check_inside("aclrtMemsetAsync", *block, devPtr, count); !s.ok()) return s;
    const auto byte = static_cast<unsigned char>(value);
    if (block->what == memory_table::kind::host) {
      return line.callback("fill", [devPtr, byte, count] { std::memset(devPtr, byte, count); });
    }
    return line.fill_bytes(
        device_span<std::byte>(static_cast<std::byte*>(devPtr), count, block->context), byte);
  });
}
