#include <acl/acl.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/session.hpp"

using namespace troupe;
using namespace troupe::acl;

aclError aclInit(const char* configPath) {
  return call([&] { return session::instance().begin(configPath); });
}

aclError aclFinalize() {
  return call([&] { return session::instance().end(); });
}

aclError aclFinalizeReference(uint64_t* refCount) {
  return call([&] {
    auto outcome = session::instance().end();
    if (outcome.ok() && refCount != nullptr) *refCount = session::instance().references();
    return outcome;
  });
}

aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion) {
  return call([&]() -> status {
    if (majorVersion == nullptr || minorVersion == nullptr || patchVersion == nullptr) {
      return bad_argument("aclrtGetVersion: a place for the version is null");
    }
    *majorVersion = ACL_MAJOR_VERSION;
    *minorVersion = ACL_MINOR_VERSION;
    *patchVersion = ACL_PATCH_VERSION;
    return {};
  });
}
