#include <array>

#include "tests/acl/acl_fixture.hpp"

namespace {

class acl_overflow : public acl_test {
 protected:
  void SetUp() override {
    acl_test::SetUp();
    aclrtBinHandle binary = nullptr;
    ASSERT_EQ(aclrtBinaryLoadFromFile(TROUPE_ACL_KERNELS, nullptr, &binary), ACL_SUCCESS);
    ASSERT_EQ(aclrtBinaryGetFunction(binary, "add", &add_), ACL_SUCCESS);
    ASSERT_EQ(aclrtMalloc(&status_, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtMallocHost(&numbers_, sizeof(float) * 2), ACL_SUCCESS);
    stream_ = make_stream();
  }
  void TearDown() override {
    EXPECT_EQ(aclrtFree(status_), ACL_SUCCESS);
    EXPECT_EQ(aclrtFreeHost(numbers_), ACL_SUCCESS);
    acl_test::TearDown();
  }

  // A kernel on `stream` that adds `number` to itself.
  void twice(float number, aclrtStream stream) {
    auto* const at = static_cast<float*>(numbers_);
    at[0] = number;
    struct {
      const float* left;
      const float* right;
      float* sum;
      std::size_t count;
    } args{at, at, at + 1, 1};
    ASSERT_EQ(aclrtLaunchKernelWithHostArgs(add_, 1, stream, nullptr, &args, sizeof(args), nullptr,
                                            0),
              ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  }

  std::uint32_t status_of(aclrtStream stream) {
    std::array<std::uint32_t, 16> seen;
    seen.fill(4711);
    EXPECT_EQ(aclrtGetOverflowStatus(status_, 64, stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpyAsync(seen.data(), 64, status_, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream),
              ACL_SUCCESS);
    EXPECT_EQ(seen[15], 0U);
    return seen[0];
  }

  static constexpr float huge = 3e38F;
  aclrtFuncHandle add_ = nullptr;
  void* status_ = nullptr;
  void* numbers_ = nullptr;
  aclrtStream stream_ = nullptr;
};

TEST_F(acl_overflow, a_watched_kernel_that_leaves_the_numbers_is_told_of_until_it_is_reset) {
  ASSERT_EQ(aclrtSetStreamOverflowSwitch(stream_, 1), ACL_SUCCESS);
  twice(1, stream_);
  EXPECT_EQ(status_of(stream_), 0U);
  twice(huge, stream_);
  twice(1, stream_);
  EXPECT_EQ(status_of(stream_), 1U);
  EXPECT_EQ(status_of(make_stream()), 1U);  // of the context
  ASSERT_EQ(aclrtResetOverflowStatus(stream_), ACL_SUCCESS);
  EXPECT_EQ(status_of(stream_), 0U);
}

TEST_F(acl_overflow, kernels_of_other_streams_and_contexts_tell_nothing) {
  twice(huge, stream_);
  EXPECT_EQ(status_of(stream_), 0U);
  aclrtContext mine = nullptr;
  aclrtContext other = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&mine), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateContext(&other, 0), ACL_SUCCESS);
  auto* const foreign = make_stream();
  ASSERT_EQ(aclrtSetStreamOverflowSwitch(foreign, 1), ACL_SUCCESS);
  twice(huge, foreign);
  EXPECT_EQ(aclrtDestroyContext(other), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetCurrentContext(mine), ACL_SUCCESS);
  EXPECT_EQ(status_of(stream_), 0U);
}

TEST_F(acl_overflow, a_status_wants_room_in_device_memory) {
  EXPECT_EQ(aclrtGetOverflowStatus(nullptr, 64, stream_), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetOverflowStatus(status_, 63, stream_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtGetOverflowStatus(static_cast<char*>(status_) + 1, 64, stream_),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtGetOverflowStatus(&add_, 64, stream_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSetStreamOverflowSwitch(stream_, 2), ACL_ERROR_RT_PARAM_INVALID);
}

}  // namespace
