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
