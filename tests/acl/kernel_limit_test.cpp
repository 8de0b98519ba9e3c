#include <string>

#include <rt.h>

#include "tests/acl/acl_fixture.hpp"

namespace {

class acl_kernel_limit : public acl_test {
 protected:
  void SetUp() override {
    acl_test::SetUp();
    stream_ = make_stream();
  }
  void TearDown() override {
    EXPECT_EQ(aclrtSetOpExecuteTimeOut(0), ACL_SUCCESS);
    acl_test::TearDown();
  }

  static void limit_us(std::uint64_t limit) {
    std::uint64_t actual = 0;
    ASSERT_EQ(aclrtSetOpExecuteTimeOutV2(limit, &actual), ACL_SUCCESS);
    EXPECT_EQ(actual, limit);
  }

  // A kernel that ends when the gate is opened.
  int launch(gate& until) {
    auto* at = &until;
    const auto kernel = [](std::uint32_t, std::uint32_t, void* args) {
      gate::wait(*static_cast<gate**>(args));
    };
    return rtKernelLaunch(kernel, stream_, static_cast<void*>(&at), sizeof(at), nullptr);
  }

  aclrtStream stream_ = nullptr;
};

TEST_F(acl_kernel_limit, B5_a_kernel_over_its_limit_fails_and_its_stream_is_free_for_more) {
  gate held;
  limit_us(1000);
  ASSERT_EQ(launch(held), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_AICORE_TIMEOUT);
  const std::string text = aclGetRecentErrMsg();
  EXPECT_NE(text.find("1000 us"), std::string::npos) << text;
  EXPECT_NE(text.find("task 1"), std::string::npos) << text;
  held.let_go();
  limit_us(0);
  ASSERT_EQ(launch(held), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(acl_kernel_limit, a_kernel_within_its_limit_runs_as_others_do) {
  gate open;
  open.let_go();
  limit_us(3'600'000'000);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(launch(open), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(acl_kernel_limit, a_launch_keeps_the_limit_of_its_time) {
  gate held;
  ASSERT_EQ(launch(held), ACL_SUCCESS);
  limit_us(1);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  held.let_go();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(acl_kernel_limit, a_limit_is_cut_to_what_there_can_be) {
  std::uint64_t actual = 0;
  ASSERT_EQ(aclrtSetOpExecuteTimeOutV2(UINT64_MAX, &actual), ACL_SUCCESS);
  EXPECT_EQ(actual, std::uint64_t{UINT32_MAX} * 1'000'000);
  EXPECT_EQ(aclrtSetOpExecuteTimeOutV2(1, nullptr), ACL_ERROR_INVALID_PARAM);
}

}  // namespace
