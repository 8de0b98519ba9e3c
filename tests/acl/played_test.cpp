// Behaviours as a program of the C interface sees them, each live and in simulated runs of several
// orders. Streams are held by notifies, as a run knows no means of the program's own.

#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include <acl/troupe_simulation.h>
#include <unistd.h>

#include "tests/acl/acl_fixture.hpp"

namespace {

constexpr std::uint64_t orders = 12;

void call_body(void* body) {
  (*static_cast<std::function<void()>*>(body))();
}

troupeSimulationResult played(std::uint64_t seed, std::function<void()> body, int expected = 0,
                              const char* plan = nullptr) {
  const troupeSimulation how{seed, 0, plan};
  troupeSimulationResult seen{};
  EXPECT_EQ(troupeSimulate(&how, &call_body, &body, &seen), expected)
      << "seed " << seed << ": " << seen.report;
  return seen;
}

/// A program that has device 0 as long as it runs.
class acl_played : public testing::Test {
 protected:
  void both_ways(const std::function<void()>& program) {
    const auto whole = [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      hold_ = nullptr;
      ASSERT_EQ(aclrtCreateNotify(&hold_, ACL_NOTIFY_DEFAULT), ACL_SUCCESS);
      program();
      EXPECT_EQ(aclrtDestroyNotify(hold_), ACL_SUCCESS);
      (void)aclrtResetDevice(0);
      (void)aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    };
    live_ = true;
    whole();
    live_ = false;
    for (std::uint64_t seed = 0; seed < orders && !HasFailure(); ++seed) played(seed, whole);
  }

  static aclrtStream stream() {
    aclrtStream made = nullptr;
    EXPECT_EQ(aclrtCreateStream(&made), ACL_SUCCESS);
    return made;
  }
  static aclrtEvent event() {
    aclrtEvent made = nullptr;
    EXPECT_EQ(aclrtCreateEventExWithFlag(&made, ACL_EVENT_SYNC), ACL_SUCCESS);
    return made;
  }
  static unsigned char* memory(std::size_t bytes) {
    void* made = nullptr;
    EXPECT_EQ(aclrtMalloc(&made, bytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    return static_cast<unsigned char*>(made);
  }
  static int first_byte(const unsigned char* at) {
    unsigned char seen = 0;
    EXPECT_EQ(aclrtMemcpy(&seen, 1, at, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    return seen;
  }
  static aclrtStreamStatus query(aclrtStream of) {
    aclrtStreamStatus seen = ACL_STREAM_STATUS_RESERVED;
    EXPECT_EQ(aclrtStreamQuery(of, &seen), ACL_SUCCESS);
    return seen;
  }

  /// `held` does nothing more until it is let go by another stream.
  void hold(aclrtStream held) {
    ASSERT_EQ(aclrtWaitAndResetNotify(hold_, held, 0), ACL_SUCCESS);
  }
  void let_go(aclrtStream by) { ASSERT_EQ(aclrtRecordNotify(hold_, by), ACL_SUCCESS); }

  /// Runs `body` on a thread of its own and waits for its end.
  void on_a_thread(std::function<void()> body) const {
    if (live_) return std::thread(body).join();
    std::uint32_t client = 0;
    ASSERT_EQ(troupeStartClient("other", &call_body, &body, &client), ACL_SUCCESS);
    ASSERT_EQ(troupeJoinClient(client), ACL_SUCCESS);
  }

  bool live_ = true;
  aclrtNotify hold_ = nullptr;
};

TEST_F(acl_played, A1_a_thread_without_context_gets_107002_until_it_sets_one) {
  both_ways([&] {
    aclrtContext mine = nullptr;
    ASSERT_EQ(aclrtGetCurrentContext(&mine), ACL_SUCCESS);
    on_a_thread([mine] {
      void* block = nullptr;
      EXPECT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
      ASSERT_EQ(aclrtSetCurrentContext(mine), ACL_SUCCESS);
      EXPECT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
      EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    });
  });
}

TEST_F(acl_played, C1_work_forked_and_joined_by_events_has_its_order_whatever_else_happens) {
  both_ways([&] {
    auto* const first = stream();
    auto* const second = stream();
    auto* const fork = event();
    auto* const join = event();
    auto* const a = memory(256);
    auto* const b = memory(256);
    ASSERT_EQ(aclrtMemsetAsync(a, 256, 1, 256, first), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(fork, first), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(second, fork), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemcpyAsync(b, 256, a, 256, ACL_MEMCPY_DEVICE_TO_DEVICE, second), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(join, second), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(first, join), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemsetAsync(a, 256, 2, 256, first), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(first), ACL_SUCCESS);
    EXPECT_EQ(first_byte(a), 2);
    EXPECT_EQ(first_byte(b), 1);
  });
}

TEST_F(acl_played, C2_a_stream_that_waits_for_its_own_record_goes_on) {
  both_ways([&] {
    auto* const one = stream();
    auto* const mark = event();
    ASSERT_EQ(aclrtRecordEvent(mark, one), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(one, mark), ACL_SUCCESS);
    auto* const a = memory(64);
    ASSERT_EQ(aclrtMemsetAsync(a, 64, 3, 64, one), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(one), ACL_SUCCESS);
    EXPECT_EQ(first_byte(a), 3);
  });
}

TEST_F(acl_played, C4_the_last_record_counts_and_earlier_ones_are_not_waited_for) {
  both_ways([&] {
    auto* const held = stream();
    auto* const open = stream();
    auto* const mark = event();
    hold(held);
    ASSERT_EQ(aclrtRecordEvent(mark, held), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(mark, open), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeEvent(mark), ACL_SUCCESS);
    EXPECT_EQ(query(held), ACL_STREAM_STATUS_NOT_READY);
    let_go(open);
    EXPECT_EQ(aclrtSynchronizeStream(held), ACL_SUCCESS);
  });
}

TEST_F(acl_played, C7_an_event_may_go_while_a_stream_waits_for_it) {
  both_ways([&] {
    auto* const held = stream();
    auto* const waiting = stream();
    auto* const mark = event();
    auto* const a = memory(64);
    hold(held);
    ASSERT_EQ(aclrtMemsetAsync(a, 64, 4, 64, held), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(mark, held), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(waiting, mark), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemcpyAsync(a + 32, 32, a, 32, ACL_MEMCPY_DEVICE_TO_DEVICE, waiting),
              ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyEvent(mark), ACL_SUCCESS);
    EXPECT_EQ(query(waiting), ACL_STREAM_STATUS_NOT_READY);
    auto* const by = stream();
    let_go(by);
    EXPECT_EQ(aclrtSynchronizeStream(waiting), ACL_SUCCESS);
    EXPECT_EQ(first_byte(a + 32), 4);
  });
}

TEST_F(acl_played, E5_all_memory_is_back_once_what_used_it_has_ended) {
  both_ways([&] {
    std::size_t before = 0;
    std::size_t after = 0;
    std::size_t total = 0;
    auto* const held = stream();
    ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total), ACL_SUCCESS);
    auto* const a = memory(1 << 20);
    hold(held);
    ASSERT_EQ(aclrtMemsetAsync(a, 1 << 20, 5, 1 << 20, held), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(a), ACL_SUCCESS);
    ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total), ACL_SUCCESS);
    EXPECT_LT(after, before);
    auto* const by = stream();
    let_go(by);
    ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
    ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total), ACL_SUCCESS);
    EXPECT_EQ(after, before);
  });
}

TEST_F(acl_played, F4_a_failure_in_stop_mode_is_the_contexts_and_nobody_elses) {
  both_ways([&] {
    aclrtContext whole = nullptr;
    aclrtContext broken = nullptr;
    ASSERT_EQ(aclrtGetCurrentContext(&whole), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateContext(&broken, 0), ACL_SUCCESS);
    auto* const failing = stream();
    auto* const other = stream();
    ASSERT_EQ(aclrtSetStreamFailureMode(failing, ACL_STOP_ON_FAILURE), ACL_SUCCESS);
    const auto fail = [](void*) { throw std::runtime_error("by design"); };
    ASSERT_EQ(aclrtLaunchHostFunc(failing, fail, nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(failing), ACL_ERROR_RT_INTERNAL_ERROR);
    for (int i = 0; i < 50; ++i) {
      EXPECT_EQ(aclrtSynchronizeStream(other), ACL_ERROR_RT_INTERNAL_ERROR);
      EXPECT_EQ(aclrtLaunchHostFunc(other, [](void*) {}, nullptr), ACL_ERROR_RT_INTERNAL_ERROR);
    }
    EXPECT_EQ(aclrtDestroyStream(failing), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyContext(broken), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetCurrentContext(whole), ACL_SUCCESS);
    auto* const one = stream();
    ASSERT_EQ(aclrtLaunchHostFunc(one, [](void*) {}, nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(one), ACL_SUCCESS);
  });
}

TEST_F(acl_played, I5_a_callback_that_throws_fails_its_task_and_the_stream_goes_on) {
  both_ways([&] {
    auto* const one = stream();
    int later = 0;
    ASSERT_EQ(aclrtLaunchHostFunc(
                  one, [](void*) { throw std::runtime_error("by design"); }, nullptr),
              ACL_SUCCESS);
    ASSERT_EQ(aclrtLaunchHostFunc(
                  one, [](void* at) { ++*static_cast<int*>(at); }, &later),
              ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(one), ACL_ERROR_RT_INTERNAL_ERROR);
    const std::string text = aclGetRecentErrMsg();
    EXPECT_NE(text.find("by design"), std::string::npos) << text;
    EXPECT_EQ(aclrtSynchronizeStream(one), ACL_SUCCESS);
    EXPECT_EQ(later, 1);
  });
}

TEST_F(acl_played, H7_what_was_captured_runs_with_its_branches_in_each_order) {
  both_ways([&] {
    auto* const one = stream();
    auto* const side = stream();
    auto* const a = memory(64);
    aclmdlRI model = nullptr;
    aclmdlRI branch = nullptr;
    aclmdlRICondHandle condition = nullptr;
    auto seen = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    ASSERT_EQ(aclrtMemset(a, 64, 0, 64), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRICaptureBegin(one, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRICaptureGetInfo(one, &seen, &model), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRICondHandleCreate(model, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT,
                                       &condition),
              ACL_SUCCESS);
    ASSERT_EQ(aclmdlRIAddCondTask({condition, ACL_MODEL_RI_COND_TYPE_IF, 1, &branch}, one, 0),
              ACL_SUCCESS);
    ASSERT_EQ(aclmdlRICaptureToModelRIBegin(side, branch, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL),
              ACL_SUCCESS);
    ASSERT_EQ(aclrtMemsetAsync(a, 64, 6, 64, side), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRICaptureEnd(side, &branch), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRICaptureEnd(one, &model), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRIExecuteAsync(model, one), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(one), ACL_SUCCESS);
    EXPECT_EQ(first_byte(a), 6);
    EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  });
}

// Hours pass in no time.
TEST_F(acl_played, B5_limits_go_by_the_time_of_the_run) {
  const auto seen = played(0, [&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    aclrtNotify never = nullptr;
    ASSERT_EQ(aclrtCreateNotify(&never, ACL_NOTIFY_DEFAULT), ACL_SUCCESS);
    auto* const one = stream();
    ASSERT_EQ(aclrtWaitAndResetNotify(never, one, 3600), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(one), ACL_ERROR_RT_TASK_TIMEOUT);
    ASSERT_EQ(troupePassTime(1'000'000'000), ACL_SUCCESS);
  });
  EXPECT_GT(seen.nanoseconds, 3'600'000'000'000U);
  EXPECT_LT(seen.nanoseconds, 3'700'000'000'000U);
}

TEST_F(acl_played, B1_a_run_in_which_nothing_can_happen_is_a_hang_that_is_told) {
  const auto seen = played(
      0,
      [&] {
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        aclrtNotify never = nullptr;
        ASSERT_EQ(aclrtCreateNotify(&never, ACL_NOTIFY_DEFAULT), ACL_SUCCESS);
        auto* const one = stream();
        ASSERT_EQ(aclrtWaitAndResetNotify(never, one, 0), ACL_SUCCESS);
        EXPECT_EQ(aclrtSynchronizeStream(one), 107019);
        EXPECT_EQ(aclrtStreamAbort(one), ACL_SUCCESS);
      },
      ACL_ERROR_RT_INTERNAL_ERROR);
  EXPECT_EQ(seen.hung, 1);
  EXPECT_NE(std::string(seen.report).find("stream"), std::string::npos) << seen.report;
}

TEST_F(acl_played, K5_a_seed_is_an_order_that_comes_again_and_a_race_shows_in_one_of_them) {
  std::set<int> outcomes;
  std::set<std::uint64_t> found;
  int outcome = 0;
  const auto race = [&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    auto* const one = stream();
    auto* const two = stream();
    const auto put_1 = [](void* to) { *static_cast<int*>(to) = 1; };
    const auto put_2 = [](void* to) { *static_cast<int*>(to) = 2; };
    ASSERT_EQ(aclrtLaunchHostFunc(one, put_1, &outcome), ACL_SUCCESS);
    ASSERT_EQ(aclrtLaunchHostFunc(two, put_2, &outcome), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  };
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto first = played(seed, race);
    outcomes.insert(outcome);
    found.insert(first.order);
    const auto before = outcome;
    if (seed % 20 != 0) continue;
    EXPECT_EQ(played(seed, race).order, first.order);
    EXPECT_EQ(outcome, before);
  }
  EXPECT_EQ(outcomes.size(), 2U);
  EXPECT_GT(found.size(), 10U);
}

TEST_F(acl_played, what_a_run_leaves_ends_with_it) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  auto* const own = stream();
  aclrtStream left = nullptr;
  aclrtEvent left_event = nullptr;
  (void)played(1, [&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    left = stream();
    left_event = event();
  });
  EXPECT_EQ(aclrtSynchronizeStream(left), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtDestroyEvent(left_event), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtSynchronizeStream(own), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(own), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST_F(acl_played, a_plan_of_faults_strikes_in_a_run_and_only_there) {
  const std::string path = "played_plan_" + std::to_string(::getpid()) + ".json";
  std::ofstream(path) << R"({"entries": [{"pick": {"point": "execute", "engine": "compute"},
                                          "action": {"kind": "fail_at_execution"}}]})";
  const auto program = [&](int expected) {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    auto* const one = stream();
    aclrtNotify mark = nullptr;
    ASSERT_EQ(aclrtCreateNotify(&mark, ACL_NOTIFY_DEFAULT), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordNotify(mark, one), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(one) != ACL_SUCCESS, expected != 0);
  };
  EXPECT_EQ(played(0, [&] { program(1); }, 0, path.c_str()).faults, 1U);
  EXPECT_EQ(played(0, [&] { program(0); }).faults, 0U);
  std::remove(path.c_str());
  troupeSimulationResult seen{};
  const troupeSimulation without{0, 0, path.c_str()};
  std::function<void()> body = [] {};
  EXPECT_NE(troupeSimulate(&without, &call_body, &body, &seen), ACL_SUCCESS);
}

TEST_F(acl_played, what_there_was_before_a_run_is_there_after_it) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtContext before = nullptr;
  aclrtContext after = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&before), ACL_SUCCESS);
  auto* const one = stream();
  auto* const a = memory(64);
  ASSERT_EQ(aclrtMemset(a, 64, 7, 64), ACL_SUCCESS);
  played(1, [&] {
    aclrtContext none = nullptr;
    EXPECT_EQ(aclrtGetCurrentContext(&none), ACL_ERROR_RT_CONTEXT_NULL);
    const troupeSimulation how{};
    troupeSimulationResult seen{};
    std::function<void()> body = [] {};
    EXPECT_EQ(troupeSimulate(&how, &call_body, &body, &seen), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT_EQ(aclFinalize(), ACL_ERROR_UNINITIALIZE);
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtProcessReport(10), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    ASSERT_EQ(aclFinalize(), ACL_SUCCESS);
  });
  ASSERT_EQ(aclrtGetCurrentContext(&after), ACL_SUCCESS);
  EXPECT_EQ(after, before);
  EXPECT_EQ(first_byte(a), 7);
  EXPECT_EQ(aclrtSynchronizeStream(one), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(a), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  std::uint32_t client = 0;
  std::function<void()> body = [] {};
  EXPECT_EQ(troupeStartClient("nobody", &call_body, &body, &client), ACL_ERROR_UNINITIALIZE);
  EXPECT_EQ(troupeJoinClient(0), ACL_ERROR_UNINITIALIZE);
  EXPECT_EQ(troupePassTime(1), ACL_ERROR_UNINITIALIZE);
}

}  // namespace
