#include "tests/acl/fuzz/subjects.hpp"

#include <algorithm>
#include <string_view>

#include <acl/acl_rt_allocator.h>
#include <rt.h>

namespace {

// Calls `function` with what is picked for each parameter.
template <class Result, class... Args>
int strike(Result (*function)(Args...), [[maybe_unused]] material& from,
           [[maybe_unused]] const std::array<role, sizeof...(Args)>& roles) {
  const auto picked = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple<Args...>{from.pick<Args>(roles[I])...};
  }(std::index_sequence_for<Args...>{});
  if constexpr (std::is_same_v<Result, aclError>) {
    return std::apply(function, picked);
  } else {
    (void)std::apply(function, picked);
    return -1;
  }
}

}  // namespace

const std::vector<std::pair<const char*, const char*>>& not_here() {
  static const std::vector<std::pair<const char*, const char*>> names{
      {"aclInit", "begins the interface"},
      {"aclFinalize", "ends it"},
      {"aclFinalizeReference", "ends it"},
  };
  return names;
}

const std::vector<subject>& subjects() {
#define SUBJECT(function, ...)                                                                  \
  subject{#function, [](material& from) { return strike(&(function), from, {__VA_ARGS__}); }},
  static const std::vector<subject> all = [] {
    std::vector<subject> made{
#include "subjects.inc"
    };
    std::erase_if(made, [](const subject& each) {
      return std::any_of(not_here().begin(), not_here().end(), [&](const auto& known) {
        return std::string_view(known.first) == each.name;
      });
    });
    return made;
  }();
#undef SUBJECT
  return all;
}

bool is_callers_or_resources(int code) {
  // The last two: a limit that the caller set has passed.
  return code == 0 || code / 100000 == 1 || code / 100000 == 2 ||
         code == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT || code == ACL_ERROR_RT_EVENT_SYNC_TIMEOUT;
}
