#include <acl/acl.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/objects.hpp"
#include "api/acl/src/session.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

// All devices reach each other's memory, so there is nothing to switch.
status check_peer(std::int32_t peer) {
  need_context();
  auto known = session::instance().home().profile(peer);
  return known ? status{} : known.error();
}

}  // namespace

aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId, int32_t peerDeviceId) {
  return call([&]() -> status {
    if (canAccessPeer == nullptr) {
      return bad_argument("aclrtDeviceCanAccessPeer: canAccessPeer is null");
    }
    auto& home = session::instance().home();
    if (auto known = home.profile(deviceId); !known) return known.error();
    if (auto known = home.profile(peerDeviceId); !known) return known.error();
    *canAccessPeer = deviceId != peerDeviceId ? 1 : 0;
    return {};
  });
}

aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags) {
  return call([&]() -> status {
    if (flags != 0) return bad_argument("aclrtDeviceEnablePeerAccess: flags are reserved, 0");
    return check_peer(peerDeviceId);
  });
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId) {
  return call([&] { return check_peer(peerDeviceId); });
}
