// Waits of threads and limits (B), memory (E) and what fails where (F), as a program sees them.

#include <stdexcept>
#include <string>
#include <thread>

#include "tests/acl/acl_fixture.hpp"

namespace {

using acl_waits = acl_test;
using acl_blocks = acl_test;
using acl_causes = acl_test;

void nothing(void*) {}

TEST_F(acl_waits, B2_a_thread_that_waits_keeps_nobody_from_working) {
  auto* const stream = make_stream();
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  gate held;
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &gate::wait, &held), ACL_SUCCESS);
  int told = -1;
  std::thread waiter([&] {
    ASSERT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
    told = aclrtSynchronizeStream(stream);
  });
  // Whether the other waits yet or not, all of this returns while the stream is held.
  for (int i = 0; i < 500; ++i) {
    aclrtStreamStatus seen = ACL_STREAM_STATUS_COMPLETE;
    ASSERT_EQ(aclrtLaunchHostFunc(stream, &nothing, nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamQuery(stream, &seen), ACL_SUCCESS);
    ASSERT_EQ(seen, ACL_STREAM_STATUS_NOT_READY);
  }
  auto* const event = make_event();
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  held.let_go();
  waiter.join();
  EXPECT_EQ(told, ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
}

TEST_F(acl_waits, B5_each_call_has_its_own_limits) {
  auto* const stream = make_stream();
  auto* const event = make_event();
  for (const auto limit : {0, -2, INT32_MIN}) {
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, limit), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event, limit), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(limit), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtProcessReport(limit), ACL_ERROR_INVALID_PARAM);
  }
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, -1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event, -1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(-1), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceTaskAbort(0, 2'160'001), ACL_ERROR_RT_PARAM_INVALID);
}

// One second is what the call can say at least; the test waits for the state, not for the time.
TEST_F(acl_waits, B5_a_stream_waits_for_an_event_as_long_as_the_limit_said_when_it_was_told_to) {
  auto* const held_stream = make_stream();
  auto* const limited = make_stream();
  auto* const patient = make_stream();
  auto* const event = make_event();
  gate held;
  ASSERT_EQ(aclrtLaunchHostFunc(held_stream, &gate::wait, &held), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, held_stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetOpWaitTimeout(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(limited, event), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetOpWaitTimeout(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(patient, event), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(limited), ACL_ERROR_RT_TASK_TIMEOUT);
  aclrtStreamStatus seen = ACL_STREAM_STATUS_COMPLETE;
  ASSERT_EQ(aclrtStreamQuery(patient, &seen), ACL_SUCCESS);
  EXPECT_EQ(seen, ACL_STREAM_STATUS_NOT_READY);
  held.let_go();
  EXPECT_EQ(aclrtSynchronizeStream(patient), ACL_SUCCESS);
}

TEST_F(acl_waits, B7_a_wait_for_the_device_is_one_for_the_current_context) {
  aclrtContext first = nullptr;
  aclrtContext other = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&first), ACL_SUCCESS);
  auto* const stream = make_stream();
  gate held;
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &gate::wait, &held), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateContext(&other, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetCurrentContext(first), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  held.let_go();
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(other), ACL_SUCCESS);
}

TEST_F(acl_waits, A2_a_query_may_cross_contexts_and_work_may_not) {
  auto* const stream = make_stream();
  aclrtContext first = nullptr;
  aclrtContext other = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&first), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateContext(&other, 1), ACL_SUCCESS);
  aclrtStreamStatus seen = ACL_STREAM_STATUS_NOT_READY;
  aclrtContext current = nullptr;
  EXPECT_EQ(aclrtStreamQuery(stream, &seen), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtLaunchHostFunc(stream, &nothing, nullptr), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtSetStreamFailureMode(stream, 1), ACL_ERROR_RT_STREAM_CONTEXT);
  ASSERT_EQ(aclrtGetCurrentContext(&current), ACL_SUCCESS);
  EXPECT_EQ(current, other);
  EXPECT_EQ(aclrtDestroyContext(other), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetCurrentContext(first), ACL_SUCCESS);
}

TEST_F(acl_waits, A3_three_threads_use_a_device_twice_each_and_the_sixth_reset_ends_it) {
  auto* const stream = make_stream();
  for (int i = 0; i < 3; ++i) {
    std::thread([] {
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    }).join();
  }
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);  // this thread's own use is left
  }
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_NE(aclrtSynchronizeStream(stream), ACL_SUCCESS);
}

TEST_F(acl_blocks, E3_bad_pointers_are_refused_each_time_and_the_books_are_unchanged) {
  void* live = nullptr;
  void* freed = nullptr;
  void* pinned = nullptr;
  int ordinary = 0;
  ASSERT_EQ(aclrtMalloc(&live, 1000, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&freed, 1000, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocHost(&pinned, 1000), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(freed), ACL_SUCCESS);
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total), ACL_SUCCESS);
  char* const inside = static_cast<char*>(live) + 512;
  char* const inside_pinned = static_cast<char*>(pinned) + 64;
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtFreeHost(nullptr), ACL_ERROR_INVALID_PARAM);
    for (void* const bad : {freed, static_cast<void*>(inside), static_cast<void*>(&ordinary),
                            pinned}) {
      EXPECT_EQ(aclrtFree(bad), ACL_ERROR_RT_PARAM_INVALID);
    }
    for (void* const bad : {live, freed, static_cast<void*>(inside_pinned),
                            static_cast<void*>(&ordinary)}) {
      EXPECT_EQ(aclrtFreeHost(bad), ACL_ERROR_RT_PARAM_INVALID);
    }
  }
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total), ACL_SUCCESS);
  EXPECT_EQ(after, before);
  EXPECT_EQ(aclrtFree(live), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
}

TEST_F(acl_blocks, E8_a_free_of_memory_in_use_returns_at_once_and_the_work_still_has_it) {
  auto* const stream = make_stream();
  void* block = nullptr;
  void* other = nullptr;
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocHost(&pinned, 4096), ACL_SUCCESS);
  gate held;
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &gate::wait, &held), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(block, 4096, 7, 4096, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(pinned, 4096, block, 4096, ACL_MEMCPY_DEVICE_TO_HOST, stream),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);  // the gate is shut
  ASSERT_EQ(aclrtMalloc(&other, 4096, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_NE(other, block);
  held.let_go();
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(static_cast<char*>(pinned)[4095], 7);
  EXPECT_EQ(aclrtFree(other), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
}

TEST_F(acl_blocks, E7_a_want_of_memory_is_called_so) {
  void* block = nullptr;
  EXPECT_EQ(aclrtMalloc(&block, std::size_t{1} << 45, ACL_MEM_MALLOC_HUGE_FIRST),
            ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_EQ(block, nullptr);
  const std::string text = aclGetRecentErrMsg();
  EXPECT_NE(text.find("35184372"), std::string::npos) << text;
}

TEST_F(acl_causes, F1_the_message_names_the_task_that_failed_and_who_submitted_it) {
  auto* const stream = make_stream();
  std::int32_t id = 0;
  ASSERT_EQ(aclrtStreamGetId(stream, &id), ACL_SUCCESS);
  for (int i = 1; i <= 10; ++i) {
    const auto work = [](void* number) {
      if (number != nullptr) throw std::runtime_error("the fourth");
    };
    ASSERT_EQ(aclrtLaunchHostFunc(stream, work, i == 4 ? &id : nullptr), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INTERNAL_ERROR);
  const std::string text = aclGetRecentErrMsg();
  EXPECT_NE(text.find("the fourth"), std::string::npos) << text;
  EXPECT_NE(text.find("stream " + std::to_string(id)), std::string::npos) << text;
  EXPECT_NE(text.find("task 4"), std::string::npos) << text;
}

TEST_F(acl_causes, decision_12_not_ready_is_a_state_and_no_error) {
  auto* const stream = make_stream();
  (void)aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  gate held;
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &gate::wait, &held), ACL_SUCCESS);
  aclrtStreamStatus seen = ACL_STREAM_STATUS_COMPLETE;
  EXPECT_EQ(aclrtStreamQuery(stream, &seen), ACL_SUCCESS);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  held.let_go();
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
}

}  // namespace
