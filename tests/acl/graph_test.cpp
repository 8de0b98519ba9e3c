#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include <unistd.h>

#include "tests/acl/acl_fixture.hpp"

namespace {

class acl_graphs : public acl_test {
 protected:
  void SetUp() override {
    acl_test::SetUp();
    stream_ = make_stream();
  }

  static void count_up(void* counter) { ++*static_cast<std::atomic<int>*>(counter); }

  int add() { return aclrtLaunchHostFunc(stream_, &count_up, &count_); }

  // What is captured of `work`.
  template <class Work>
  aclmdlRI captured(Work work) {
    aclmdlRI made = nullptr;
    EXPECT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
    work();
    EXPECT_EQ(aclmdlRICaptureEnd(stream_, &made), ACL_SUCCESS);
    return made;
  }

  aclrtStream stream_ = nullptr;
  std::atomic<int> count_ = 0;
};

TEST_F(acl_graphs, what_is_captured_runs_with_each_replay_and_not_before) {
  auto* const model = captured([&] {
    ASSERT_EQ(add(), ACL_SUCCESS);
    ASSERT_EQ(add(), ACL_SUCCESS);
  });
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(count_, 0);
  auto* const other = make_stream();
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(aclmdlRIExecuteAsync(model, i % 2 == 0 ? stream_ : other), ACL_SUCCESS);
  }
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
  EXPECT_EQ(count_, 6);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(acl_graphs, a_capture_is_known_by_the_handle_that_its_graph_will_have) {
  aclmdlRICaptureStatus seen = ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED;
  aclmdlRI model = &seen;
  ASSERT_EQ(aclmdlRICaptureGetInfo(stream_, &seen, &model), ACL_SUCCESS);
  EXPECT_EQ(seen, ACL_MODEL_RI_CAPTURE_STATUS_NONE);
  EXPECT_EQ(model, nullptr);
  auto* const side = make_stream();
  auto* const fork = make_event();
  auto* const join = make_event();
  auto* const made = captured([&] {
    ASSERT_EQ(aclmdlRICaptureGetInfo(stream_, &seen, &model), ACL_SUCCESS);
    EXPECT_EQ(seen, ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
    ASSERT_EQ(aclrtRecordEvent(fork, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(side, fork), ACL_SUCCESS);
    aclmdlRI of_side = nullptr;
    ASSERT_EQ(aclmdlRICaptureGetInfo(side, &seen, &of_side), ACL_SUCCESS);
    EXPECT_EQ(of_side, model);
    EXPECT_EQ(aclmdlRIExecuteAsync(model, side), ACL_ERROR_RT_MODEL_CAPTURED);
    EXPECT_EQ(aclmdlRIDestroy(model), ACL_ERROR_RT_MODEL_CAPTURED);
    ASSERT_EQ(aclrtLaunchHostFunc(side, &count_up, &count_), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(join, side), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(stream_, join), ACL_SUCCESS);
  });
  EXPECT_EQ(made, model);
  ASSERT_EQ(aclmdlRIExecuteAsync(made, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(count_, 1);
  EXPECT_EQ(aclmdlRIDestroy(made), ACL_SUCCESS);
}

TEST_F(acl_graphs, H1_what_a_capture_forbids_has_its_code_and_spoils_nothing) {
  void* device = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  auto* const event = make_event();
  auto* const other = make_event();
  char ordinary[64] = {};
  auto* const model = captured([&] {
    ASSERT_EQ(aclrtRecordEvent(event, stream_), ACL_SUCCESS);
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    aclrtEventRecordedStatus reached = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    float ms = 4711;
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_STREAM_CAPTURED);
    EXPECT_EQ(aclrtStreamQuery(stream_, &status), ACL_ERROR_RT_STREAM_CAPTURED);
    EXPECT_EQ(aclrtStreamAbort(stream_), ACL_ERROR_RT_STREAM_CAPTURED);
    EXPECT_EQ(aclrtDestroyStream(stream_), ACL_ERROR_RT_STREAM_CAPTURED);
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_STREAM_CAPTURED);
    EXPECT_EQ(aclrtQueryEventStatus(event, &reached), ACL_ERROR_RT_EVENT_CAPTURED);
    EXPECT_EQ(aclrtSynchronizeEvent(event), ACL_ERROR_RT_EVENT_CAPTURED);
    EXPECT_EQ(aclrtEventElapsedTime(&ms, event, other), ACL_ERROR_RT_EVENT_CAPTURED);
    EXPECT_EQ(ms, 4711);
    EXPECT_EQ(aclrtMemcpy(device, 64, ordinary, 64, ACL_MEMCPY_HOST_TO_DEVICE),
              ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
    EXPECT_EQ(aclrtMemset(device, 64, 1, 64), ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
    EXPECT_EQ(aclrtMemcpyAsync(device, 64, ordinary, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream_),
              107041);
    EXPECT_EQ(aclrtValueWait(device, 1, 0, stream_), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT);
    ASSERT_EQ(add(), ACL_SUCCESS);
  });
  ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(count_, 1);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
}

TEST_F(acl_graphs, H2_the_mode_says_on_which_threads_a_blocking_copy_is_refused) {
  void* device = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  const auto elsewhere = [&](aclmdlRICaptureMode own) {
    int told = -1;
    std::thread([&] {
      EXPECT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
      EXPECT_EQ(aclmdlRICaptureThreadExchangeMode(&own), ACL_SUCCESS);
      EXPECT_EQ(own, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);  // what it was
      told = aclrtMemset(device, 64, 1, 64);
    }).join();
    return told;
  };
  const auto global = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
  const auto bound = ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL;
  const int refused = ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT;
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, global), ACL_SUCCESS);
  EXPECT_EQ(elsewhere(global), refused);
  EXPECT_EQ(elsewhere(bound), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, bound), ACL_SUCCESS);
  EXPECT_EQ(elsewhere(global), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(device, 64, 1, 64), refused);
  ASSERT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
}

TEST_F(acl_graphs, H4_a_stream_that_was_not_joined_ends_the_capture_without_a_graph) {
  auto* const side = make_stream();
  auto* const fork = make_event();
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
  aclmdlRICaptureStatus seen = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureGetInfo(stream_, &seen, &model), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(fork, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(side, fork), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(side, &count_up, &count_), ACL_SUCCESS);
  aclmdlRI made = &seen;
  EXPECT_EQ(aclmdlRICaptureEnd(stream_, &made), ACL_ERROR_RT_STREAM_UNJOINED);
  EXPECT_EQ(made, static_cast<void*>(&seen));
  EXPECT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_ERROR_RT_INVALID_HANDLE);
  ASSERT_EQ(aclrtLaunchHostFunc(side, &count_up, &count_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(side), ACL_SUCCESS);
  EXPECT_EQ(count_, 1);
}

TEST_F(acl_graphs, H5_each_wrong_end_has_its_code_and_the_right_one_still_works) {
  auto* const side = make_stream();
  auto* const fork = make_event();
  auto* const join = make_event();
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  aclmdlRI none = nullptr;
  EXPECT_EQ(aclmdlRICaptureEnd(stream_, &none), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
  EXPECT_EQ(aclmdlRICaptureBegin(nullptr, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclmdlRICaptureBegin(stream_, enumerator<aclmdlRICaptureMode>(3)),
            ACL_ERROR_INVALID_PARAM);
  auto* const model = captured([&] {
    EXPECT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL),
              ACL_ERROR_RT_STREAM_CAPTURED);
    ASSERT_EQ(aclrtRecordEvent(fork, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(side, fork), ACL_SUCCESS);
    EXPECT_EQ(aclmdlRICaptureEnd(side, &none), ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED);
    std::thread([&] {
      ASSERT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
      EXPECT_EQ(aclmdlRICaptureEnd(stream_, &none), 107038);
    }).join();
    EXPECT_EQ(aclrtLaunchHostFunc(nullptr, &count_up, &count_),
              ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT);
    ASSERT_EQ(aclrtRecordEvent(join, side), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(stream_, join), ACL_SUCCESS);
  });
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(aclmdlRIExecuteAsync(nullptr, stream_), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlRIExecuteAsync(stream_, stream_), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
}

TEST_F(acl_graphs, H7_freed_memory_is_named_and_a_graph_that_runs_is_not_destroyed) {
  void* device = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  gate held;
  auto* const waiting =
      captured([&] { ASSERT_EQ(aclrtLaunchHostFunc(stream_, &gate::wait, &held), ACL_SUCCESS); });
  auto* const filling =
      captured([&] { ASSERT_EQ(aclrtMemsetAsync(device, 64, 7, 64, stream_), ACL_SUCCESS); });
  ASSERT_EQ(aclmdlRIExecuteAsync(waiting, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(waiting), 107037);
  held.let_go();
  ASSERT_EQ(aclmdlRIExecuteAsync(filling, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  char seen = 0;
  ASSERT_EQ(aclrtMemcpy(&seen, 1, device, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(seen, 7);
  EXPECT_EQ(aclmdlRIDestroy(waiting), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(device), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIExecuteAsync(filling, stream_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclmdlRIDestroy(filling), ACL_SUCCESS);
}

TEST_F(acl_graphs, a_group_of_tasks_gets_other_work_for_the_next_replay) {
  void* device = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  auto* const cell = static_cast<char*>(device);
  aclrtTaskGrp group = nullptr;
  EXPECT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
  auto* const model = captured([&] {
    ASSERT_EQ(add(), ACL_SUCCESS);
    EXPECT_EQ(aclmdlRICaptureTaskGrpEnd(stream_, &group), ACL_ERROR_STREAM_TASK_GROUP_STATUS);
    ASSERT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), ACL_SUCCESS);
    EXPECT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), ACL_ERROR_STREAM_TASK_GROUP_STATUS);
    ASSERT_EQ(aclrtMemsetAsync(cell, 64, 1, 32, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemsetAsync(cell + 32, 32, 2, 32, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRICaptureTaskGrpEnd(stream_, &group), ACL_SUCCESS);
    ASSERT_EQ(add(), ACL_SUCCESS);
  });
  const auto replayed = [&](std::size_t at) {
    char seen = 0;
    EXPECT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(&seen, 1, cell + at, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    return static_cast<int>(seen);
  };
  EXPECT_EQ(replayed(0), 1);
  EXPECT_EQ(replayed(32), 2);
  auto* const updater = make_stream();
  EXPECT_EQ(aclmdlRICaptureTaskUpdateEnd(updater), ACL_ERROR_STREAM_TASK_GROUP_STATUS);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateBegin(updater, model), ACL_ERROR_RT_INVALID_HANDLE);
  ASSERT_EQ(aclmdlRICaptureTaskUpdateBegin(updater, group), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(cell, 64, 7, 32, updater), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateEnd(updater), ACL_ERROR_RT_PARAM_INVALID);  // one for two
  ASSERT_EQ(aclmdlRICaptureTaskUpdateBegin(updater, group), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(cell, 64, 8, 32, updater), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(updater, &count_up, &count_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateEnd(updater), ACL_ERROR_RT_PARAM_INVALID);  // another kind
  EXPECT_EQ(replayed(0), 1);  // nothing was half done
  ASSERT_EQ(aclmdlRICaptureTaskUpdateBegin(updater, group), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(cell, 64, 3, 32, updater), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(cell + 32, 32, 4, 32, updater), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureTaskUpdateEnd(updater), ACL_SUCCESS);
  EXPECT_EQ(replayed(0), 3);
  EXPECT_EQ(replayed(32), 4);
  EXPECT_EQ(count_, 10);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateBegin(updater, group), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
}

TEST_F(acl_graphs, a_group_with_work_of_another_stream_in_between_is_not_updated) {
  auto* const side = make_stream();
  auto* const fork = make_event();
  auto* const join = make_event();
  aclrtTaskGrp group = nullptr;
  auto* const model = captured([&] {
    ASSERT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), ACL_SUCCESS);
    ASSERT_EQ(add(), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(fork, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(side, fork), ACL_SUCCESS);
    ASSERT_EQ(aclrtLaunchHostFunc(side, &count_up, &count_), ACL_SUCCESS);
    ASSERT_EQ(add(), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRICaptureTaskGrpEnd(stream_, &group), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(join, side), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(stream_, join), ACL_SUCCESS);
  });
  EXPECT_EQ(aclmdlRICaptureTaskUpdateBegin(side, group), ACL_ERROR_STREAM_TASK_GROUP_INTR);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
}

TEST_F(acl_graphs, a_graph_can_be_looked_at) {
  auto* const model = captured([&] { ASSERT_EQ(add(), ACL_SUCCESS); });
  const auto path = testing::TempDir() + "troupe_acl_graph_" + std::to_string(::getpid());
  EXPECT_EQ(aclmdlRIDebugJsonPrint(model, path.c_str(), 0), ACL_SUCCESS);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_NE(text.str().find("\"host function\""), std::string::npos) << text.str();
  (void)std::remove(path.c_str());
  EXPECT_EQ(aclmdlRIDebugJsonPrint(model, "/nonexistent/x", 0), ACL_ERROR_WRITE_FILE);
  std::uint32_t id = 0;
  EXPECT_EQ(aclmdlRIGetId(model, &id), ACL_SUCCESS);
  EXPECT_NE(id, 0U);
  testing::internal::CaptureStderr();
  EXPECT_EQ(aclmdlRIDebugPrint(model), ACL_SUCCESS);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("host function"), std::string::npos);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
}

}  // namespace
