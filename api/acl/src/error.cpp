#include <acl/acl.h>

#include "api/acl/src/call.hpp"

using namespace troupe;
using namespace troupe::acl;

const char* aclGetRecentErrMsg() {
  return take_recent_message();
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel level) {
  if (level == ACL_RT_THREAD_LEVEL) return last_error(false);
  return call(
      [&] { return bad_argument("aclrtPeekAtLastError: the level is not that of a thread"); });
}

aclError aclrtGetLastError(aclrtLastErrLevel level) {
  if (level == ACL_RT_THREAD_LEVEL) return last_error(true);
  return call([&] { return bad_argument("aclrtGetLastError: the level is not that of a thread"); });
}
