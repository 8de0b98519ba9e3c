// Every function with what cannot be right, before the interface is initialised and after it was
// finalised.

#include <cstdio>

#include "tests/acl/fuzz/subjects.hpp"
#include "tests/acl/init/in_child.hpp"

namespace {

// Whether all calls had a code of the caller's.
bool strike_all(std::uint64_t seed, bool ended) {
  material from(seed);
  for (int round = 0; round < 20; ++round) {
    for (const auto& each : subjects()) {
      from.clear();
      const auto told = each.strike(from);
      const bool good = told == -1 || is_callers_or_resources(told);
      if (!good) std::printf("%s: %d\n", each.name, told);
      if (!good) return false;
    }
  }
  return !ended || aclrtSetDevice(0) == ACL_ERROR_UNINITIALIZE;
}

TEST(acl_phases, F6_no_call_crashes_before_the_beginning) {
  EXPECT_EQ(in_child([] { return strike_all(1, false) ? 0 : 1; }), 0);
}

TEST(acl_phases, F6_no_call_crashes_after_the_end) {
  EXPECT_EQ(in_child([] {
              if (aclInit(nullptr) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return 1;
              if (aclFinalize() != ACL_SUCCESS) return 2;
              return strike_all(2, true) ? 0 : 3;
            }),
            0);
}

}  // namespace
