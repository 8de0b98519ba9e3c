// Switches that programs set and read back, and what this library is and can.

#include <array>
#include <string>
#include <tuple>

#include <acl/acl.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/objects.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

constexpr std::int64_t not_set = -1;
constexpr auto option_not_set = static_cast<code>(107021);

option_values process_options;
static_assert(std::tuple_size_v<decltype(process_options.by_number)> ==
              ACL_OPT_STRONG_CONSISTENCY + 1);

// In the order of their numbers; all of them can be asked for.
constexpr std::array attributes{ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16,
                                ACL_CANN_ATTR_JIT_COMPILE};

status set_option(const char* call, option_values& held, aclSysParamOpt opt, std::int64_t value) {
  if (opt < ACL_OPT_DETERMINISTIC || opt > ACL_OPT_STRONG_CONSISTENCY || value < 0 || value > 1) {
    return bad_parameter(std::string(call) + ": option " + std::to_string(opt) + " and value " +
                         std::to_string(value));
  }
  held.by_number[static_cast<std::size_t>(opt)] = value;
  return {};
}

status get_option(const char* call, const option_values& held, aclSysParamOpt opt,
                  std::int64_t* value) {
  if (value == nullptr) return bad_argument(std::string(call) + ": value is null");
  if (opt < ACL_OPT_DETERMINISTIC || opt > ACL_OPT_STRONG_CONSISTENCY) {
    return bad_parameter(std::string(call) + ": option " + std::to_string(opt));
  }
  const auto found = held.by_number[static_cast<std::size_t>(opt)].load();
  if (found == not_set) {
    return make_status(option_not_set, std::string(call) + ": the option was never set");
  }
  *value = found;
  return {};
}

}  // namespace

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return call([&] { return set_option("aclrtSetSysParamOpt", process_options, opt, value); });
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return call([&] { return get_option("aclrtGetSysParamOpt", process_options, opt, value); });
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return call([&] {
    return set_option("aclrtCtxSetSysParamOpt", current_context()->options, opt, value);
  });
}

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return call([&] {
    return get_option("aclrtCtxGetSysParamOpt", current_context()->options, opt, value);
  });
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
