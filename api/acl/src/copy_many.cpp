// Copies of rows, and of many pieces as one.

#include <cstdint>
#include <string>
#include <vector>

#include <acl/acl.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/copy_kinds.hpp"
#include "api/acl/src/memory_place.hpp"
#include "api/acl/src/objects.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

copy_2d_request rows(void* dst, std::size_t dpitch, const void* src, std::size_t spitch,
                     std::size_t width, std::size_t height) {
  copy_2d_request made;
  made.target = dst;
  made.target_pitch = dpitch;
  made.source = src;
  made.source_pitch = spitch;
  made.width = width;
  made.height = height;
  made.site = call_site::here();
  return made;
}

status check_rows(const char* call, const copy_2d_request& request) {
  if (request.target != nullptr && request.source != nullptr) return {};
  return bad_argument(std::string(call) + ": target or source is null");
}

// A batch as a program hands it over: lists of targets, room there, sources and sizes, and the
// kinds of memory that parts of it go between.
struct batch {
  void** targets;
  std::size_t* room;
  void** sources;
  std::size_t* sizes;
  std::size_t count;
  aclrtMemcpyBatchAttr* attributes;
  std::size_t* begins;
  std::size_t attribute_count;
  std::size_t* failed;
};

status check_lists(const char* call, const batch& all) {
  const bool lists = all.targets != nullptr && all.room != nullptr && all.sources != nullptr &&
                     all.sizes != nullptr && all.failed != nullptr;
  const bool kinds = all.attributes != nullptr && all.begins != nullptr && all.attribute_count != 0;
  if (!lists || !kinds || all.count == 0) {
    return bad_argument(std::string(call) + ": a list is null or empty");
  }
  if (all.count > copy_batch_request::entries_max || all.attribute_count > all.count) {
    return bad_parameter(std::string(call) + ": " + std::to_string(all.count) + " copies and " +
                         std::to_string(all.attribute_count) + " attributes; the most are " +
                         std::to_string(copy_batch_request::entries_max) +
                         ", with one attribute for each");
  }
  return {};
}

result<copy_kind> direction_of(const char* call, const aclrtMemcpyBatchAttr& attribute) {
  const auto from = attribute.srcLoc.type;
  const auto to = attribute.dstLoc.type;
  const auto known = [](aclrtMemLocationType type) {
    return type == ACL_MEM_LOCATION_TYPE_HOST || type == ACL_MEM_LOCATION_TYPE_DEVICE;
  };
  if (!known(from) || !known(to)) {
    return bad_parameter(std::string(call) + ": a place of a copy is neither host nor device");
  }
  if (from == ACL_MEM_LOCATION_TYPE_DEVICE) {
    return to == ACL_MEM_LOCATION_TYPE_DEVICE ? copy_kind::device_to_device
                                              : copy_kind::device_to_host;
  }
  return to == ACL_MEM_LOCATION_TYPE_DEVICE ? copy_kind::host_to_device : copy_kind::host_to_host;
}

// One for all, as the copies are one command.
result<copy_kind> direction_of(const char* call, const batch& all) {
  const auto first = direction_of(call, all.attributes[0]);
  if (!first) return first;
  for (std::size_t i = 0; i < all.attribute_count; ++i) {
    const auto each = direction_of(call, all.attributes[i]);
    if (!each) return each;
    if (each.value() != first.value()) return unsupported(call, "copies of several directions");
    const bool rising = i == 0 ? all.begins[0] == 0 : all.begins[i] > all.begins[i - 1];
    if (!rising || all.begins[i] >= all.count) {
      return bad_parameter(std::string(call) + ": attribute " + std::to_string(i) +
                           " begins at copy " + std::to_string(all.begins[i]));
    }
  }
  return first;
}

std::vector<copy_entry> entries_of(const batch& all) {
  std::vector<copy_entry> made;
  made.reserve(all.count);
  for (std::size_t i = 0; i < all.count; ++i) {
    made.push_back({all.targets[i], all.sources[i], all.sizes[i], all.room[i]});
  }
  return made;
}

// The first copy that cannot be right; SIZE_MAX if none is known to be so.
std::size_t first_bad(const batch& all) {
  for (std::size_t i = 0; i < all.count; ++i) {
    const auto bytes = all.sizes[i];
    if (bytes == 0) continue;
    const bool good = all.targets[i] != nullptr && all.sources[i] != nullptr &&
                      bytes <= all.room[i] && find_memory(all.targets[i], bytes).ok() &&
                      find_memory(all.sources[i], bytes).ok();
    if (!good) return i;
  }
  return SIZE_MAX;
}

// `copy` makes them; a failure names which one was at fault.
template <class Copy>
status run(const char* call, const batch& all, Copy&& copy) {
  if (auto s = check_lists(call, all); !s.ok()) return s;
  const auto direction = direction_of(call, all);
  if (!direction) return direction.error();
  const auto entries = entries_of(all);
  auto outcome = copy(copy_batch_request{entries, direction.value(), call_site::here()});
  *all.failed = outcome.ok() ? SIZE_MAX : first_bad(all);
  return outcome;
}

}  // namespace

aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                       size_t height, aclrtMemcpyKind /*kind*/) {
  return call([&]() -> status {
    if (width == 0 || height == 0) return {};
    const auto request = rows(dst, dpitch, src, spitch, width, height);
    if (auto s = check_rows("aclrtMemcpy2d", request); !s.ok()) return s;
    return current_context()->context.copy_2d(request);
  });
}

aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                            size_t height, aclrtMemcpyKind kind, aclrtStream stream) {
  return call([&]() -> status {
    if (width == 0 || height == 0) return {};
    auto request = rows(dst, dpitch, src, spitch, width, height);
    if (auto s = check_rows("aclrtMemcpy2dAsync", request); !s.ok()) return s;
    const auto direction = kind_of("aclrtMemcpy2dAsync", kind);
    if (!direction) return direction.error();
    request.kind = direction.value();
    return stream_for_work(stream).copy_2d(request);
  });
}

aclError aclrtMemcpyBatch(void** dsts, size_t* destMax, void** srcs, size_t* sizes,
                          size_t numBatches, aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes,
                          size_t numAttrs, size_t* failIdx) {
  return call([&] {
    const batch all{dsts,  destMax,      srcs,     sizes, numBatches,
                    attrs, attrsIndexes, numAttrs, failIdx};
    return run("aclrtMemcpyBatch", all, [](const copy_batch_request& request) {
      return current_context()->context.copy_batch(request);
    });
  });
}

aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMax, void** srcs, size_t* sizes,
                               size_t numBatches, aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes,
                               size_t numAttrs, size_t* failIndex, aclrtStream stream) {
  return call([&] {
    const batch all{dsts,  destMax,      srcs,     sizes, numBatches,
                    attrs, attrsIndexes, numAttrs, failIndex};
    return run("aclrtMemcpyBatchAsync", all, [&](const copy_batch_request& request) {
      return stream_for_work(stream).copy_batch(request);
    });
  });
}
