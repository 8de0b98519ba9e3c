#include <vector>

#include "tests/acl/acl_fixture.hpp"

namespace {

using acl_kernels = acl_test;

struct add_args {
  const float* left;
  const float* right;
  float* sum;
  std::size_t count;
};

TEST_F(acl_kernels, a_kernel_of_a_shared_object_runs_by_name_over_blocks) {
  constexpr std::size_t count = 1000;
  aclrtBinHandle binary = nullptr;
  aclrtFuncHandle add = nullptr;
  ASSERT_EQ(aclrtBinaryLoadFromFile(TROUPE_ACL_KERNELS, nullptr, &binary), ACL_SUCCESS);
  EXPECT_EQ(aclrtBinaryGetFunction(binary, "subtract", &add), ACL_ERROR_RT_KERNEL_LOOKUP);
  ASSERT_EQ(aclrtBinaryGetFunction(binary, "add", &add), ACL_SUCCESS);
  EXPECT_EQ(aclrtBinaryGetFunction(add, "add", &add), ACL_ERROR_RT_INVALID_HANDLE);
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, 3 * count * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST),
            ACL_SUCCESS);
  auto* const device = static_cast<float*>(memory);
  std::vector<float> host(2 * count, 21);
  ASSERT_EQ(aclrtMemcpy(device, 2 * count * sizeof(float), host.data(), 2 * count * sizeof(float),
                        ACL_MEMCPY_HOST_TO_DEVICE),
            ACL_SUCCESS);
  auto* const stream = make_stream();
  add_args args{device, device + count, device + 2 * count, count};
  EXPECT_EQ(aclrtLaunchKernelWithHostArgs(add, 0, stream, nullptr, &args, sizeof args, nullptr, 0),
            ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(aclrtLaunchKernelWithHostArgs(add, 7, stream, nullptr, &args, sizeof args, nullptr, 0),
            ACL_SUCCESS);
  args = {};                                          // the library has its own copy
  ASSERT_EQ(aclrtBinaryUnLoad(binary), ACL_SUCCESS);  // what is queued still runs
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpy(host.data(), count * sizeof(float), device + 2 * count,
                        count * sizeof(float), ACL_MEMCPY_DEVICE_TO_HOST),
            ACL_SUCCESS);
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_EQ(host[i], 42);
  EXPECT_EQ(aclrtBinaryUnLoad(binary), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtBinaryLoadFromFile("/nonexistent/kernels.so", nullptr, &binary),
            ACL_ERROR_INVALID_FILE);
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
}

}  // namespace
