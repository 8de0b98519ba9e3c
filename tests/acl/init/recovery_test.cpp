#include <cstdlib>

#include <acl/acl.h>

#include "tests/acl/init/in_child.hpp"

namespace {

constexpr std::size_t bytes = 64;

// A device buffer and pinned memory on device 0, where the plan's fault befalls the first copy.
struct broken_device {
  explicit broken_device(const file& plan) {
    (void)setenv("TROUPE_FAULT_PLAN", plan.path.c_str(), 1);
    (void)setenv("TROUPE_FAULT_REPORT", "/dev/null", 1);
    ready = aclrtSetDevice(0) == ACL_SUCCESS &&
            aclrtMalloc(&device, bytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS &&
            aclrtMallocHost(&pinned, bytes) == ACL_SUCCESS;
  }
  int copy() const {
    return aclrtMemcpyAsync(device, bytes, pinned, bytes, ACL_MEMCPY_HOST_TO_DEVICE, nullptr);
  }
  bool ready = false;
  void* device = nullptr;
  void* pinned = nullptr;
};

TEST(acl_recovery, G3_a_memory_fault_is_told_its_work_aborted_and_the_device_repaired) {
  const file plan(R"({"entries": [{"name": "a cosmic ray",
      "pick": {"point": "execute", "engine": "dma_h2d"},
      "action": {"kind": "corrupt", "detected": true}}]})");
  EXPECT_EQ(in_child([&] {
              const broken_device it(plan);
              aclrtMemUceInfo lost[4] = {};
              std::size_t count = 4711;
              aclrtErrorInfo info{};
              if (!it.ready) return 1;
              if (aclrtGetErrorVerbose(0, &info) != ACL_SUCCESS) return 2;
              if (info.errorType != ACL_RT_NO_ERROR || info.hasDetail != 0) return 3;
              if (aclrtGetMemUceInfo(0, lost, 4, &count) != ACL_SUCCESS || count != 0) return 4;
              if (it.copy() != ACL_SUCCESS) return 5;
              if (aclrtSynchronizeStream(nullptr) != ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR) return 6;
              if (aclrtGetErrorVerbose(0, &info) != ACL_SUCCESS) return 7;
              if (info.errorType != ACL_RT_ERROR_MEMORY || info.tryRepair != 1) return 8;
              if (aclrtGetMemUceInfo(0, lost, 4, &count) != ACL_SUCCESS || count != 1) return 9;
              if (lost[0].addr != it.device || lost[0].len != bytes) return 10;
              if (aclrtMemUceRepair(0, lost, 1) != ACL_ERROR_RT_PARAM_INVALID) return 11;
              if (aclrtDeviceTaskAbort(0, 2160001) != ACL_ERROR_RT_PARAM_INVALID) return 12;
              if (aclrtDeviceTaskAbort(0, 0) != ACL_SUCCESS) return 13;
              if (it.copy() != ACL_ERROR_RT_DEVICE_TASK_ABORT) return 14;
              auto wrong = lost[0];
              wrong.len += 1;
              if (aclrtMemUceRepair(0, &wrong, 1) != ACL_ERROR_RT_PARAM_INVALID) return 15;
              if (aclrtRepairError(0, &info) != ACL_SUCCESS) return 16;
              if (it.copy() != ACL_SUCCESS) return 17;
              if (aclrtSynchronizeStream(nullptr) != ACL_SUCCESS) return 18;
              if (aclrtGetErrorVerbose(0, &info) != ACL_SUCCESS) return 19;
              if (info.errorType != ACL_RT_NO_ERROR) return 20;
              return aclrtRepairError(0, &info) == ACL_ERROR_RT_PARAM_INVALID ? 0 : 21;
            }),
            0);
}

TEST(acl_recovery, G4_a_device_that_is_gone_is_told_and_cannot_be_repaired) {
  const file plan(R"({"entries": [{"name": "unplugged",
      "pick": {"point": "execute", "engine": "dma_h2d"}, "action": {"kind": "lose_device"}}]})");
  EXPECT_EQ(in_child([&] {
              const broken_device it(plan);
              aclrtErrorInfo info{};
              if (!it.ready) return 1;
              if (it.copy() != ACL_SUCCESS) return 2;
              if (aclrtSynchronizeStream(nullptr) != ACL_ERROR_RT_LOST_HEARTBEAT) return 3;
              if (aclrtGetErrorVerbose(0, &info) != ACL_SUCCESS) return 4;
              if (info.errorType != ACL_RT_ERROR_OTHERS || info.tryRepair != 0) return 5;
              if (aclrtRepairError(0, &info) != ACL_ERROR_RT_FEATURE_NOT_SUPPORT) return 6;
              if (aclrtDeviceTaskAbort(0, 100) != ACL_ERROR_RT_LOST_HEARTBEAT) return 7;
              return aclrtSetDevice(1) == ACL_SUCCESS ? 0 : 8;
            }),
            0);
}

}  // namespace
