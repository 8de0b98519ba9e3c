#include <algorithm>
#include <string>

#include <acl/acl.h>
#include <rt.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/kernel.hpp"
#include "api/acl/src/objects.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

// Programs of this interface choose no device: a thread's first call takes device 0.
template <class Call>
rtError_t with_device(Call&& then) {
  if (binding::detail::bound_record == nullptr) {
    if (const auto failed = aclrtSetDevice(0); failed != ACL_SUCCESS) return failed;
  }
  return then();
}

}  // namespace

rtError_t rtStreamCreate(rtStream_t* stream, int32_t priority) {
  return with_device([&] {
    const auto rank = static_cast<std::uint32_t>(std::clamp(priority, 0, 7));
    return aclrtCreateStreamWithConfig(stream, rank, ACL_STREAM_FAST_LAUNCH);
  });
}

rtError_t rtStreamDestroy(rtStream_t stream) {
  return with_device([&] { return aclrtDestroyStream(stream); });
}

rtError_t rtStreamSynchronize(rtStream_t stream) {
  return with_device([&] { return aclrtSynchronizeStream(stream); });
}

rtError_t rtEventCreate(rtEvent_t* event) {
  return with_device(
      [&] { return aclrtCreateEventExWithFlag(event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE); });
}

rtError_t rtEventDestroy(rtEvent_t event) {
  return aclrtDestroyEvent(event);
}

rtError_t rtEventRecord(rtEvent_t event, rtStream_t stream) {
  return with_device([&] { return aclrtRecordEvent(event, stream); });
}

rtError_t rtStreamWaitEvent(rtStream_t stream, rtEvent_t event) {
  return with_device([&] { return aclrtStreamWaitEvent(stream, event); });
}

rtError_t rtMalloc(void** address, size_t bytes, rtMemAlloc_t policy) {
  if (policy != RT_MEMALLOC_DEFAULT) {
    return call([&] { return bad_argument("rtMalloc: the policy is not RT_MEMALLOC_DEFAULT"); });
  }
  return with_device([&] { return aclrtMalloc(address, bytes, ACL_MEM_MALLOC_HUGE_FIRST); });
}

rtError_t rtFree(void* address) {
  return aclrtFree(address);
}

rtError_t rtMemcpy(void* target, const void* source, size_t bytes, rtMemcpyKind_t kind) {
  return with_device([&] {
    return aclrtMemcpy(target, bytes, source, bytes, static_cast<aclrtMemcpyKind>(kind));
  });
}

rtError_t rtMemcpyAsync(void* target, const void* source, size_t bytes, rtMemcpyKind_t kind,
                        rtStream_t stream) {
  return with_device([&] {
    return aclrtMemcpyAsync(target, bytes, source, bytes, static_cast<aclrtMemcpyKind>(kind),
                            stream);
  });
}

rtError_t rtKernelLaunch(rtKernel_t kernel, rtStream_t stream, void* args, size_t bytes,
                         void* config) {
  return with_device([&] {
    return call([&]() -> status {
      if (kernel == nullptr || (args == nullptr && bytes != 0) || config != nullptr) {
        return bad_argument("rtKernelLaunch: kernel or args is null, or config is not");
      }
      return launch_kernel(stream_object_for_work(stream), "kernel", kernel, 1, args, bytes);
    });
  });
}
