#include <cstring>
#include <string>
#include <string_view>

#include <acl/acl.h>

#include "api/acl/src/call.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

// What this library is: the interface's version, not that of a release of somebody's packages.
std::string interface_version() {
  return std::to_string(ACL_MAJOR_VERSION) + "." + std::to_string(ACL_MINOR_VERSION) + "." +
         std::to_string(ACL_PATCH_VERSION);
}

template <std::size_t N>
void fill(char (&place)[N], const std::string& text) {
  place[text.copy(place, N - 1)] = '\0';
}

}  // namespace

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

aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion* version) {
  return call([&]() -> status {
    if (version == nullptr) return bad_argument("aclsysGetCANNVersion: version is null");
    if (name < ACL_PKG_NAME_CANN || name > ACL_PKG_NAME_DRIVER) {
      return bad_argument("aclsysGetCANNVersion: a package of " + std::to_string(name));
    }
    if (name != ACL_PKG_NAME_CANN && name != ACL_PKG_NAME_RUNTIME) {
      return unsupported("aclsysGetCANNVersion", "package " + std::to_string(name));
    }
    *version = {};
    fill(version->version, interface_version());
    fill(version->majorVersion, std::to_string(ACL_MAJOR_VERSION));
    fill(version->minorVersion, std::to_string(ACL_MINOR_VERSION));
    fill(version->patchVersion, std::to_string(ACL_PATCH_VERSION));
    return {};
  });
}

// The place has room for ACL_PKG_VERSION_MAX_SIZE bytes.
aclError aclsysGetVersionStr(char* pkgName, char* versionStr) {
  return call([&]() -> status {
    if (pkgName == nullptr || versionStr == nullptr) {
      return bad_argument("aclsysGetVersionStr: pkgName or versionStr is null");
    }
    if (const std::string_view asked(pkgName); asked != "runtime" && asked != "cann") {
      return unsupported("aclsysGetVersionStr", "package '" + std::string(asked) + "'");
    }
    const auto text = interface_version();
    std::memcpy(versionStr, text.c_str(), text.size() + 1);
    return {};
  });
}
