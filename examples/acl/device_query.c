/* Which devices there are, and what they are like. */
#include <stdio.h>

#include "check.h"

int main(void) {
  uint32_t count = 0;
  CHECK(aclInit(NULL));
  CHECK(aclrtGetDeviceCount(&count));
  printf("%u devices of type %s\n", count, aclrtGetSocName());
  for (uint32_t i = 0; i < count; ++i) {
    int64_t cores = 0;
    size_t unused = 0;
    size_t total = 0;
    CHECK(aclGetDeviceCapability(i, ACL_DEVICE_INFO_AI_CORE_NUM, &cores));
    CHECK(aclrtSetDevice((int32_t)i));
    CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &unused, &total));
    printf("device %u: %lld cores, %.1f of %.1f GB free\n", i, (long long)cores,
           (double)unused / (double)(1 << 30), (double)total / (double)(1 << 30));
    CHECK(aclrtResetDevice((int32_t)i));
  }
  CHECK(aclFinalize());
  return 0;
}
