#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/acl/acl_fixture.hpp"

namespace {

using acl_contexts = acl_test;
using acl_streams = acl_test;
using acl_events = acl_test;
using acl_memory = acl_test;
using acl_callbacks = acl_test;
using acl_errors = acl_test;

TEST_F(acl_contexts, A1_a_thread_without_context_gets_107002_until_it_sets_one) {
  aclrtContext mine = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&mine), ACL_SUCCESS);
  std::thread([&] {
    void* memory = &memory;
    std::size_t free = 7;
    std::size_t total = 7;
    int device = 7;
    aclrtContext current = &current;
    EXPECT_EQ(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtGetCurrentContext(&current), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(current, nullptr);
    EXPECT_EQ(memory, static_cast<void*>(&memory));
    EXPECT_EQ(free, 7U);
    ASSERT_EQ(aclrtSetCurrentContext(mine), ACL_SUCCESS);
    EXPECT_EQ(aclrtGetMemInfo(ACL_DDR_MEM, &free, &total), ACL_SUCCESS);
    EXPECT_EQ(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
  }).join();
}

TEST_F(acl_contexts, A2_a_stream_of_another_context_is_refused_and_stays) {
  auto* const stream = make_stream();
  aclrtContext first = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&first), ACL_SUCCESS);
  aclrtContext other = nullptr;
  ASSERT_EQ(aclrtCreateContext(&other, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_ERROR_RT_STREAM_CONTEXT);
  ASSERT_EQ(aclrtSetCurrentContext(first), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(other), ACL_SUCCESS);
}

TEST_F(acl_contexts, A3_uses_of_a_device_are_counted) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  auto* const stream = make_stream();
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_NE(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
}

TEST_F(acl_contexts, A5_a_destroyed_context_is_refused_where_it_is_current) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  std::thread([&] { EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS); }).join();
  aclrtStream stream = nullptr;
  EXPECT_EQ(aclrtCreateStream(&stream), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
  EXPECT_EQ(aclrtCreateStream(&stream), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtSetCurrentContext(context), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(acl_contexts, A5_stale_stream_handles_are_recognised_for_ever) {
  std::vector<aclrtStream> stale;
  for (int i = 0; i < 200; ++i) {
    auto* const stream = make_stream();
    ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    stale.push_back(stream);
  }
  for (auto* const each : stale) {
    ASSERT_EQ(aclrtSynchronizeStream(each), ACL_ERROR_RT_INVALID_HANDLE);
    ASSERT_EQ(aclrtDestroyStream(each), ACL_ERROR_RT_INVALID_HANDLE);
  }
}

TEST_F(acl_contexts, A8_a_forked_child_is_told_at_once) {
  const auto child = fork();
  if (child == 0) {
    alarm(10);
    _exit(aclrtSetDevice(0) == ACL_ERROR_RT_FEATURE_NOT_SUPPORT ? 0 : 1);
  }
  int end = 0;
  ASSERT_EQ(waitpid(child, &end, 0), child);
  EXPECT_TRUE(WIFEXITED(end) && WEXITSTATUS(end) == 0);
}

TEST_F(acl_streams, B1_a_stream_is_complete_only_after_its_last_task) {
  auto* const stream = make_stream();
  gate held;
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &gate::wait, &held), ACL_SUCCESS);
  aclrtStreamStatus seen = ACL_STREAM_STATUS_RESERVED;
  ASSERT_EQ(aclrtStreamQuery(stream, &seen), ACL_SUCCESS);
  EXPECT_EQ(seen, ACL_STREAM_STATUS_NOT_READY);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  held.let_go();
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamQuery(stream, &seen), ACL_SUCCESS);
  EXPECT_EQ(seen, ACL_STREAM_STATUS_COMPLETE);
}

TEST_F(acl_streams, B4_limits_of_0_and_below_minus_1_are_refused) {
  auto* const stream = make_stream();
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, -7), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(acl_streams, G1_an_abort_releases_who_waits_and_the_stream_is_usable_again) {
  auto* const stream = make_stream();
  gate held;
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &gate::wait, &held), ACL_SUCCESS);
  std::atomic<int> told = -1;
  std::thread waiter([&] { told = aclrtSynchronizeStream(stream); });
  while (told == -1) {
    EXPECT_EQ(aclrtStreamAbort(stream), ACL_SUCCESS);
    held.let_go();
    if (aclrtSynchronizeStreamWithTimeout(stream, 20) == ACL_SUCCESS) break;
  }
  waiter.join();
  EXPECT_TRUE(told == ACL_ERROR_RT_STREAM_ABORT || told == ACL_SUCCESS) << told;
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
}

TEST_F(acl_events, C1_a_wait_means_the_record_before_it) {
  auto* const first = make_stream();
  auto* const second = make_stream();
  auto* const event = make_event();
  gate one;
  gate two;
  ASSERT_EQ(aclrtLaunchHostFunc(first, &gate::wait, &one), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, first), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(second, event), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(first, &gate::wait, &two), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, first), ACL_SUCCESS);
  one.let_go();
  EXPECT_EQ(aclrtSynchronizeStream(second), ACL_SUCCESS);
  aclrtEventRecordedStatus seen = ACL_EVENT_RECORDED_STATUS_COMPLETE;
  ASSERT_EQ(aclrtQueryEventStatus(event, &seen), ACL_SUCCESS);
  EXPECT_EQ(seen, ACL_EVENT_RECORDED_STATUS_NOT_READY);
  two.let_go();
  EXPECT_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
}

TEST_F(acl_events, C6_elapsed_time_of_events_never_recorded_is_an_error_and_touches_nothing) {
  auto* const start = make_event();
  auto* const end = make_event();
  float ms = 4711;
  EXPECT_EQ(aclrtEventElapsedTime(&ms, start, end), ACL_ERROR_RT_INTERNAL_ERROR);
  EXPECT_EQ(ms, 4711);
  auto* const stream = make_stream();
  ASSERT_EQ(aclrtRecordEvent(start, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(end, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtEventElapsedTime(&ms, start, end), ACL_SUCCESS);
  EXPECT_GE(ms, 0);
}

TEST_F(acl_events, decision_1_a_wait_on_an_event_never_recorded_depends_on_its_kind) {
  auto* const stream = make_stream();
  EXPECT_EQ(aclrtStreamWaitEvent(stream, make_event()), ACL_SUCCESS);
  aclrtEvent older = nullptr;
  ASSERT_EQ(aclrtCreateEventWithFlag(&older, ACL_EVENT_TIME_LINE), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamWaitEvent(stream, older), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtResetEvent(make_event(), stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

TEST_F(acl_memory, D3_copies_check_their_arguments_and_the_blocking_form_ignores_the_kind) {
  std::vector<char> host(256, 'a');
  void* device = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 256, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  for (int kind = 0; kind < 8; ++kind) {
    EXPECT_EQ(aclrtMemcpy(device, 256, host.data(), 256, static_cast<aclrtMemcpyKind>(kind)),
              ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtMemcpy(device, 255, host.data(), 256, ACL_MEMCPY_HOST_TO_DEVICE),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpy(nullptr, 1, host.data(), 1, ACL_MEMCPY_HOST_TO_DEVICE),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemcpy(nullptr, 0, nullptr, 0, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  auto* const stream = make_stream();
  EXPECT_EQ(aclrtMemcpyAsync(host.data(), 256, host.data(), 128, ACL_MEMCPY_HOST_TO_HOST, stream),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtMemcpyAsync(device, 256, host.data(), 256, ACL_MEMCPY_DEVICE_TO_HOST, stream),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
}

TEST_F(acl_memory, E3_free_tells_what_begins_no_block) {
  void* device = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 4096, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtFree(static_cast<char*>(device) + 64), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFreeHost(device), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFree(&device), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(device), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMalloc(&device, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
}

TEST_F(acl_memory, E6_sizes_are_rounded_up_to_32_and_32_bytes_lie_behind) {
  void* device = nullptr;
  void* exact = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 100, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocAlign32(&exact, 100, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(device, 160, 0, 160), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(device, 161, 0, 161), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemset(exact, 128, 0, 128), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(exact, 129, 0, 129), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(exact), ACL_SUCCESS);
}

TEST_F(acl_memory, fills_reach_device_and_pinned_memory) {
  void* device = nullptr;
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 100'000, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocHost(&pinned, 100'000), ACL_SUCCESS);
  auto* const stream = make_stream();
  EXPECT_EQ(aclrtMemset(device, 100'000, 3, 100'000), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemsetAsync(pinned, 100'000, 9, 100'000, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(static_cast<char*>(pinned)[99'999], 9);
  EXPECT_EQ(aclrtMemcpyAsync(pinned, 100'000, device, 100'000, ACL_MEMCPY_DEVICE_TO_HOST, stream),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(static_cast<char*>(pinned)[99'999], 3);
  EXPECT_EQ(aclrtMemset(device, 200'000, 3, 200'000), ACL_ERROR_RT_PARAM_INVALID);
  aclrtPtrAttributes what{};
  EXPECT_EQ(aclrtPointerGetAttributes(static_cast<char*>(device) + 5, &what), ACL_SUCCESS);
  EXPECT_EQ(what.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(aclrtPointerGetAttributes(&what, &what), ACL_SUCCESS);
  EXPECT_EQ(what.location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
}

void note_order(void* text) {
  static_cast<std::string*>(text)->push_back('c');
}
void note_later(void* text) {
  static_cast<std::string*>(text)->push_back('l');
}

TEST_F(acl_callbacks, I1_a_blocking_callback_holds_its_stream_until_it_was_processed) {
  auto* const stream = make_stream();
  EXPECT_EQ(aclrtProcessReport(10), ACL_ERROR_RT_THREAD_SUBSCRIBE);
  EXPECT_EQ(aclrtLaunchCallback(&note_order, nullptr, ACL_CALLBACK_BLOCK, stream),
            ACL_ERROR_RT_STREAM_NO_CB_REG);
  ASSERT_EQ(aclrtSubscribeReport(pthread_self(), stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSubscribeReport(pthread_self(), stream), ACL_ERROR_RT_STREAM_SUBSCRIBE);
  EXPECT_EQ(aclrtProcessReport(0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtProcessReport(1), ACL_ERROR_RT_REPORT_TIMEOUT);
  std::string order;
  ASSERT_EQ(aclrtLaunchCallback(&note_order, &order, ACL_CALLBACK_BLOCK, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &note_later, &order), ACL_SUCCESS);
  // Nobody has processed the report, so the stream cannot come to its end however long this takes.
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 50), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(order, "");
  EXPECT_EQ(aclrtProcessReport(-1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(order, "cl");
  EXPECT_EQ(aclrtUnSubscribeReport(pthread_self(), stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtUnSubscribeReport(pthread_self(), stream), ACL_ERROR_RT_THREAD_SUBSCRIBE);
}

TEST_F(acl_errors, the_last_error_is_the_threads_and_get_clears_it) {
  (void)aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  (void)aclGetRecentErrMsg();
  EXPECT_EQ(aclrtMemcpy(nullptr, 1, nullptr, 1, ACL_MEMCPY_HOST_TO_HOST), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);  // of the outer checks
  int stranger = 0;
  EXPECT_EQ(aclrtSynchronizeStream(&stranger), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);  // success clears nothing
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_HANDLE);
  std::thread([] { EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS); }).join();
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  const auto* const text = aclGetRecentErrMsg();
  ASSERT_NE(text, nullptr);
  EXPECT_NE(std::strstr(text, "107017"), nullptr);
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
}

}  // namespace
