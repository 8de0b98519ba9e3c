// Events and memory of other processes and servers: there is one process here.

#include <acl/acl.h>
#include <unistd.h>

#include "api/acl/src/call.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

aclError refuse(const char* function) {
  return call([&] { return unsupported(function, "nothing is shared with other processes"); });
}

}  // namespace

aclError aclrtDeviceGetBareTgid(int32_t* pid) {
  return call([&]() -> status {
    if (pid == nullptr) return bad_argument("aclrtDeviceGetBareTgid: pid is null");
    *pid = ::getpid();
    return {};
  });
}

aclError aclrtIpcGetEventHandle(aclrtEvent, aclrtIpcEventHandle*) {
  return refuse("aclrtIpcGetEventHandle");
}

aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle, aclrtEvent*) {
  return refuse("aclrtIpcOpenEventHandle");
}

aclError aclrtIpcMemGetExportKey(void*, size_t, char*, size_t, uint64_t) {
  return refuse("aclrtIpcMemGetExportKey");
}

aclError aclrtIpcMemImportByKey(void**, const char*, uint64_t) {
  return refuse("aclrtIpcMemImportByKey");
}

aclError aclrtIpcMemSetImportPid(const char*, int32_t*, size_t) {
  return refuse("aclrtIpcMemSetImportPid");
}

aclError aclrtIpcMemClose(const char*) {
  return refuse("aclrtIpcMemClose");
}

aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle, aclrtMemHandleType, uint64_t,
                                         uint64_t*) {
  return refuse("aclrtMemExportToShareableHandle");
}

aclError aclrtMemImportFromShareableHandle(uint64_t, int32_t, aclrtDrvMemHandle*) {
  return refuse("aclrtMemImportFromShareableHandle");
}

aclError aclrtMemSetPidToShareableHandle(uint64_t, int32_t*, size_t) {
  return refuse("aclrtMemSetPidToShareableHandle");
}

aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle, uint64_t, aclrtMemSharedHandleType,
                                           void*) {
  return refuse("aclrtMemExportToShareableHandleV2");
}

aclError aclrtMemImportFromShareableHandleV2(void*, aclrtMemSharedHandleType, uint64_t,
                                             aclrtDrvMemHandle*) {
  return refuse("aclrtMemImportFromShareableHandleV2");
}
