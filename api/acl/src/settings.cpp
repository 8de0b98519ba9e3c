// Switches that programs set and read back, and what this library is and can.

#include <array>
#include <atomic>
#include <string>

#include <acl/acl.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/objects.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

constexpr std::size_t options = ACL_OPT_STRONG_CONSISTENCY + 1;
constexpr std::int64_t not_set = -1;
constexpr auto option_not_set = static_cast<code>(107021);

// Of the whole process; kernels here are deterministic and consistent whatever they say.
std::array<std::atomic<std::int64_t>, options> process_options{not_set, not_set, not_set};

// In the order of their numbers; all of them can be asked for.
constexpr std::array attributes{ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16,
                                ACL_CANN_ATTR_JIT_COMPILE};

status set_option(const char* call, aclSysParamOpt opt, std::int64_t value) {
  if (opt < ACL_OPT_DETERMINISTIC || opt > ACL_OPT_STRONG_CONSISTENCY || value < 0 || value > 1) {
    return bad_parameter(std::string(call) + ": option " + std::to_string(opt) + " and value " +
                         std::to_string(value));
  }
  process_options[static_cast<std::size_t>(opt)] = value;
  return {};
}

status get_option(const char* call, aclSysParamOpt opt, std::int64_t* value) {
  if (value == nullptr) return bad_argument(std::string(call) + ": value is null");
  if (opt < ACL_OPT_DETERMINISTIC || opt > ACL_OPT_STRONG_CONSISTENCY) {
    return bad_parameter(std::string(call) + ": option " + std::to_string(opt));
  }
  const auto held = process_options[static_cast<std::size_t>(opt)].load();
  if (held == not_set) {
    return make_status(option_not_set, std::string(call) + ": the option was never set");
  }
  *value = held;
  return {};
}

}  // namespace

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return call([&] { return set_option("aclrtSetSysParamOpt", opt, value); });
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return call([&] { return get_option("aclrtGetSysParamOpt", opt, value); });
}

aclError aclGetCannAttributeList(const aclCannAttr** cannAttrList, size_t* num) {
  return call([&]() -> status {
    if (cannAttrList == nullptr || num == nullptr) {
      return bad_argument("aclGetCannAttributeList: an argument is null");
    }
    *cannAttrList = attributes.data();
    *num = attributes.size();
    return {};
  });
}

// Kernels are code of the host: infinities and NaNs are as IEEE 754 has them, bfloat16 is up to the
// kernel, and nothing is compiled at run time.
aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t* value) {
  return call([&]() -> status {
    if (value == nullptr) return bad_argument("aclGetCannAttribute: value is null");
    switch (cannAttr) {
      case ACL_CANN_ATTR_INF_NAN:
      case ACL_CANN_ATTR_BF16:
        *value = 1;
        return {};
      case ACL_CANN_ATTR_JIT_COMPILE:
        *value = 0;
        return {};
      case ACL_CANN_ATTR_UNDEFINED:
        break;
    }
    return bad_argument("aclGetCannAttribute: there is no attribute of number " +
                        std::to_string(cannAttr));
  });
}

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) {
  return call([&]() -> status {
    need_context();
    if (mode == ACL_RT_OVERFLOW_MODE_INFNAN) return {};
    if (mode == ACL_RT_OVERFLOW_MODE_SATURATION) {
      return unsupported("aclrtSetDeviceSatMode", "arithmetic that saturates");
    }
    return bad_argument("aclrtSetDeviceSatMode: a mode of " + std::to_string(mode));
  });
}
