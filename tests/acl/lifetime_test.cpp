#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/acl/acl_fixture.hpp"

namespace {

using acl_lifetime = acl_test;
using acl_failures = acl_test;
using acl_order = acl_test;

void count_up(void* counter) {
  ++*static_cast<std::atomic<int>*>(counter);
}
void fail(void*) {
  throw std::runtime_error("the third oven is cold");
}

TEST_F(acl_lifetime, J5_destroy_waits_for_the_work_and_by_force_drops_it) {
  std::atomic<int> ran = 0;
  auto* const plain = make_stream();
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(aclrtLaunchHostFunc(plain, &count_up, &ran), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtDestroyStream(plain), ACL_SUCCESS);
  EXPECT_EQ(ran, 100);
  auto* const forced = make_stream();
  gate held;
  ASSERT_EQ(aclrtLaunchHostFunc(forced, &gate::wait, &held), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(forced, &count_up, &ran), ACL_SUCCESS);
  std::thread opener([&] {
    // Dropped at once by the destroy; what runs is let go when that has been seen.
    while (aclrtSynchronizeStreamWithTimeout(forced, 1) == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) {
    }
    held.let_go();
  });
  EXPECT_EQ(aclrtDestroyStreamForce(forced), ACL_SUCCESS);
  opener.join();
  EXPECT_EQ(ran, 100);
  EXPECT_EQ(aclrtStreamAbort(forced), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(acl_lifetime, J8_handles_kept_across_resets_are_refused) {
  struct kept {
    aclrtContext context;
    aclrtStream stream;
    aclrtEvent event;
  };
  std::vector<kept> all;
  for (int round = 0; round < 100; ++round) {
    kept made{};
    ASSERT_EQ(aclrtGetCurrentContext(&made.context), ACL_SUCCESS);
    made.stream = make_stream();
    made.event = make_event();
    all.push_back(made);
    ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  }
  for (const auto& each : all) {
    EXPECT_EQ(aclrtSetCurrentContext(each.context), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_NE(aclrtSynchronizeStream(each.stream), ACL_SUCCESS);
    EXPECT_NE(aclrtRecordEvent(each.event, nullptr), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
}

TEST_F(acl_lifetime, A6_events_of_another_device_are_refused) {
  auto* const event = make_event();
  ASSERT_EQ(aclrtRecordEvent(event, nullptr), ACL_SUCCESS);
  aclrtContext first = nullptr;
  aclrtContext other = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&first), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateContext(&other, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEvent(event, nullptr), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtStreamWaitEvent(nullptr, event), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtDestroyContext(other), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetCurrentContext(first), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamWaitEvent(nullptr, event), ACL_SUCCESS);
}

TEST_F(acl_failures, F1_I5_a_host_function_that_throws_is_told_by_its_stream_only) {
  auto* const failing = make_stream();
  auto* const other = make_stream();
  std::atomic<int> ran = 0;
  ASSERT_EQ(aclrtLaunchHostFunc(failing, &fail, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(failing, &count_up, &ran), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(failing), ACL_ERROR_RT_INTERNAL_ERROR);
  const auto* const text = aclGetRecentErrMsg();
  ASSERT_NE(text, nullptr);
  EXPECT_NE(std::string(text).find("the third oven is cold"), std::string::npos) << text;
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(failing), ACL_SUCCESS);
}

TEST_F(acl_failures, F2_in_stop_mode_the_first_failure_is_told_every_time) {
  auto* const stream = make_stream();
  EXPECT_EQ(aclrtSetStreamFailureMode(stream, 2), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetStreamFailureMode(stream, ACL_CONTINUE_ON_FAILURE),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &fail, nullptr), ACL_SUCCESS);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INTERNAL_ERROR);
  }
  std::atomic<int> ran = 0;
  EXPECT_EQ(aclrtLaunchHostFunc(stream, &count_up, &ran), ACL_ERROR_RT_INTERNAL_ERROR);
  void* memory = nullptr;  // allocation and blocking copies still work
  ASSERT_EQ(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(memory, 64, 1, 64), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
  EXPECT_EQ(ran, 0);
}

TEST_F(acl_order, B6_a_blocking_copy_waits_for_no_stream) {
  auto* const stream = make_stream();
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemset(memory, 64, 1, 64), ACL_SUCCESS);
  gate held;
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &gate::wait, &held), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(memory, 64, 2, 64, stream), ACL_SUCCESS);
  char seen = 0;
  ASSERT_EQ(aclrtMemcpy(&seen, 1, memory, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(seen, 1);
  held.let_go();
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpy(&seen, 1, memory, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
}

TEST_F(acl_order, D1_a_copy_from_pinned_memory_reads_it_when_it_runs) {
  auto* const stream = make_stream();
  void* memory = nullptr;
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocHost(&pinned, 64), ACL_SUCCESS);
  auto& first = *static_cast<char*>(pinned);
  first = 1;
  gate held;
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &gate::wait, &held), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(memory, 64, pinned, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream),
            ACL_SUCCESS);
  first = 2;
  held.let_go();
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  char seen = 0;
  ASSERT_EQ(aclrtMemcpy(&seen, 1, memory, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
}

void free_inside(void* told) {
  *static_cast<int*>(told) = aclrtSynchronizeStream(nullptr);
}

TEST_F(acl_order, decision_8_calls_that_wait_are_refused_inside_a_callback) {
  auto* const stream = make_stream();
  int told = -1;
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &free_inside, &told), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_TRUE(told == ACL_ERROR_RT_FEATURE_NOT_SUPPORT || told == ACL_ERROR_RT_CONTEXT_NULL)
      << told;
}

}  // namespace
