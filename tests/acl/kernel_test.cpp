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
  aclrtFuncHandle same = nullptr;
  ASSERT_EQ(aclrtBinaryGetFunction(binary, "add", &same), ACL_SUCCESS);
  EXPECT_EQ(same, add);
  ASSERT_EQ(aclrtBinaryUnLoad(binary), ACL_SUCCESS);  // what is queued still runs
  EXPECT_EQ(aclrtLaunchKernel(add, 1, &args, sizeof args, stream), ACL_ERROR_RT_INVALID_HANDLE);
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

// Pinned memory that the kernel works on in place: 21 to add to itself, and where the sum goes.
struct pinned_numbers {
  pinned_numbers() {
    EXPECT_EQ(aclrtMallocHost(&memory, 4 * sizeof(float)), ACL_SUCCESS);
    at = static_cast<float*>(memory);
    at[0] = at[1] = 21;
    at[2] = at[3] = 0;
  }
  ~pinned_numbers() { EXPECT_EQ(aclrtFreeHost(memory), ACL_SUCCESS); }
  pinned_numbers(const pinned_numbers&) = delete;
  pinned_numbers& operator=(const pinned_numbers&) = delete;

  void* memory = nullptr;
  float* at = nullptr;
};

TEST_F(acl_kernels, arguments_may_be_raw_or_put_together_and_changed_between_launches) {
  aclrtBinHandle binary = nullptr;
  aclrtFuncHandle add = nullptr;
  ASSERT_EQ(aclrtBinaryLoadFromFile(TROUPE_ACL_KERNELS, nullptr, &binary), ACL_SUCCESS);
  ASSERT_EQ(aclrtBinaryGetFunction(binary, "add", &add), ACL_SUCCESS);
  auto* const stream = make_stream();
  pinned_numbers numbers;
  add_args raw{numbers.at, numbers.at, numbers.at + 2, 1};
  ASSERT_EQ(aclrtLaunchKernel(add, 1, &raw, sizeof raw, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(numbers.at[2], 42);

  aclrtArgsHandle args = nullptr;
  aclrtParamHandle sum = nullptr;
  aclrtParamHandle other = nullptr;
  EXPECT_EQ(aclrtKernelArgsInit(binary, &args), ACL_ERROR_RT_INVALID_HANDLE);
  ASSERT_EQ(aclrtKernelArgsInit(add, &args), ACL_SUCCESS);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(aclrtKernelArgsAppend(args, &raw.left, sizeof raw.left, &other), ACL_SUCCESS);
  }
  ASSERT_EQ(aclrtKernelArgsAppend(args, &raw.sum, sizeof raw.sum, &sum), ACL_SUCCESS);
  ASSERT_EQ(aclrtKernelArgsAppend(args, &raw.count, sizeof raw.count, &other), ACL_SUCCESS);
  numbers.at[2] = 0;
  ASSERT_EQ(aclrtLaunchKernelWithConfig(add, 1, stream, nullptr, args, nullptr), ACL_SUCCESS);
  float* next = numbers.at + 3;
  EXPECT_EQ(aclrtKernelArgsParaUpdate(args, sum, &next, 4), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtKernelArgsParaUpdate(args, &raw, &next, 8), ACL_ERROR_RT_INVALID_HANDLE);
  ASSERT_EQ(aclrtKernelArgsParaUpdate(args, sum, &next, sizeof next), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchKernelWithConfig(add, 1, stream, nullptr, args, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtKernelArgsFinalize(args), ACL_SUCCESS);  // launches have their own copies
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(numbers.at[2], 42);
  EXPECT_EQ(numbers.at[3], 42);
  EXPECT_EQ(aclrtKernelArgsFinalize(args), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtLaunchKernelWithConfig(add, 1, stream, nullptr, args, nullptr),
            ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(acl_kernels, arguments_lie_as_the_members_of_a_structure_do) {
  struct mixed {
    char small;
    double large;
    short middle;
    std::uint64_t* to;
  };
  aclrtBinHandle binary = nullptr;
  aclrtFuncHandle weigh = nullptr;
  aclrtArgsHandle args = nullptr;
  aclrtParamHandle param = nullptr;
  ASSERT_EQ(aclrtBinaryLoadFromFile(TROUPE_ACL_KERNELS, nullptr, &binary), ACL_SUCCESS);
  ASSERT_EQ(aclrtBinaryGetFunction(binary, "weigh", &weigh), ACL_SUCCESS);
  ASSERT_EQ(aclrtKernelArgsInit(weigh, &args), ACL_SUCCESS);
  std::uint64_t sum = 0;
  mixed given{1, 20, 300, &sum};
  ASSERT_EQ(aclrtKernelArgsAppend(args, &given.small, sizeof given.small, &param), ACL_SUCCESS);
  ASSERT_EQ(aclrtKernelArgsAppend(args, &given.large, sizeof given.large, &param), ACL_SUCCESS);
  ASSERT_EQ(aclrtKernelArgsAppend(args, &given.middle, sizeof given.middle, &param), ACL_SUCCESS);
  ASSERT_EQ(aclrtKernelArgsAppend(args, &given.to, sizeof given.to, &param), ACL_SUCCESS);
  std::vector<char> much(65'536);
  EXPECT_EQ(aclrtKernelArgsAppend(args, much.data(), much.size(), &param),
            ACL_ERROR_RT_PARAM_INVALID);
  auto* const stream = make_stream();
  ASSERT_EQ(aclrtLaunchKernelWithConfig(weigh, 1, stream, nullptr, args, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(sum, 321U);
  EXPECT_EQ(aclrtKernelArgsFinalize(args), ACL_SUCCESS);
}

TEST_F(acl_kernels, blocks_have_a_place_in_their_contexts_memory_to_meet_at) {
  void* first = nullptr;
  void* again = nullptr;
  ASSERT_EQ(aclrtGetHardwareSyncAddr(&first), ACL_SUCCESS);
  ASSERT_EQ(aclrtGetHardwareSyncAddr(&again), ACL_SUCCESS);
  EXPECT_EQ(again, first);
  std::vector<unsigned char> seen(4096, 1);
  ASSERT_EQ(aclrtMemcpy(seen.data(), 4096, first, 4096, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(seen, std::vector<unsigned char>(4096, 0));
  aclrtContext mine = nullptr;
  aclrtContext other = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&mine), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateContext(&other, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtGetHardwareSyncAddr(&again), ACL_SUCCESS);
  EXPECT_NE(again, first);
  EXPECT_EQ(aclrtDestroyContext(other), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetCurrentContext(mine), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetHardwareSyncAddr(nullptr), ACL_ERROR_INVALID_PARAM);
}

}  // namespace
