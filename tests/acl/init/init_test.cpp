#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <acl/acl.h>

#include "tests/acl/init/in_child.hpp"

namespace {

TEST(acl_init, F6_each_wrong_order_has_its_code) {
  EXPECT_EQ(in_child([] {
              if (aclFinalize() != ACL_ERROR_UNINITIALIZE) return 1;
              if (aclInit(nullptr) != ACL_SUCCESS) return 2;
              if (aclInit(nullptr) != ACL_ERROR_REPEAT_INITIALIZE) return 3;
              if (aclrtSetDevice(0) != ACL_SUCCESS) return 4;
              aclrtStream stream = nullptr;
              if (aclrtCreateStream(&stream) != ACL_SUCCESS) return 5;
              if (aclFinalize() != ACL_SUCCESS) return 6;
              if (aclFinalize() != ACL_ERROR_REPEAT_FINALIZE) return 7;
              if (aclrtSetDevice(0) != ACL_ERROR_UNINITIALIZE) return 8;
              if (aclrtDestroyStream(stream) == ACL_SUCCESS) return 9;
              if (aclInit(nullptr) != ACL_SUCCESS) return 10;
              if (aclrtSetDevice(0) != ACL_SUCCESS) return 11;
              return aclrtDestroyStream(stream) != ACL_SUCCESS ? 0 : 12;
            }),
            0);
}

TEST(acl_init, F6_of_sixteen_threads_that_race_one_initialises) {
  EXPECT_EQ(in_child([] {
              std::atomic<int> first = 0;
              std::atomic<int> repeated = 0;
              std::vector<std::thread> threads;
              for (int i = 0; i < 16; ++i) {
                threads.emplace_back([&] {
                  const auto told = aclInit(nullptr);
                  first += told == ACL_SUCCESS;
                  repeated += told == ACL_ERROR_REPEAT_INITIALIZE;
                });
              }
              for (auto& each : threads)
                each.join();
              return first == 1 && repeated == 15 ? 0 : 1;
            }),
            0);
}

TEST(acl_init, decision_17_calls_work_without_aclInit) {
  EXPECT_EQ(in_child([] {
              std::uint32_t count = 0;
              aclrtRunMode mode = ACL_DEVICE;
              aclrtContext context = nullptr;
              if (aclrtGetDeviceCount(&count) != ACL_SUCCESS || count == 0) return 1;
              if (aclrtGetRunMode(&mode) != ACL_SUCCESS || mode != ACL_HOST) return 2;
              if (aclrtCreateContext(&context, 0) != ACL_SUCCESS) return 3;
              if (aclrtGetSocName() == nullptr) return 4;
              return aclrtSynchronizeStream(nullptr) == ACL_SUCCESS ? 0 : 5;
            }),
            0);
}

TEST(acl_init, the_file_says_what_the_runtime_is_like_and_other_peoples_words_are_passed_by) {
  const file config(R"({"dump": {"dump_path": "x"}, "troupe": {"devices": 3}})");
  EXPECT_EQ(in_child([&] {
              std::uint32_t count = 0;
              if (aclInit(config.path.c_str()) != ACL_SUCCESS) return 1;
              return aclrtGetDeviceCount(&count) == ACL_SUCCESS && count == 3 ? 0 : 2;
            }),
            0);
}

TEST(acl_init, a_file_that_is_wrong_or_missing_has_its_code_and_leaves_things_as_they_were) {
  const file broken("{");
  const file* const same = &broken;
  EXPECT_EQ(in_child([same] {
              if (aclInit("/nonexistent/acl.json") != ACL_ERROR_INVALID_FILE) return 1;
              if (aclInit(same->path.c_str()) != ACL_ERROR_PARSE_FILE) return 2;
              return aclInit("") == ACL_SUCCESS ? 0 : 3;
            }),
            0);
}

TEST(acl_init, K3_a_plan_of_faults_befalls_a_program_that_knows_nothing_of_it) {
  const file plan(R"({"entries": [{"name": "a bad cable",
      "pick": {"point": "execute", "engine": "dma_h2d"}, "action": {"kind": "fail_at_execution"}}]})");
  EXPECT_EQ(in_child([&] {
              (void)setenv("TROUPE_FAULT_PLAN", plan.path.c_str(), 1);
              void* device = nullptr;
              void* pinned = nullptr;
              if (aclrtSetDevice(0) != ACL_SUCCESS) return 1;
              if (aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return 2;
              if (aclrtMallocHost(&pinned, 64) != ACL_SUCCESS) return 3;
              if (aclrtMemcpyAsync(device, 64, pinned, 64, ACL_MEMCPY_HOST_TO_DEVICE, nullptr) !=
                  ACL_SUCCESS) {
                return 4;
              }
              if (aclrtSynchronizeStream(nullptr) == ACL_SUCCESS) return 5;
              const std::string text = aclGetRecentErrMsg();
              return text.find("a bad cable") != std::string::npos ? 0 : 6;
            }),
            0);
}

TEST(acl_init, K3_a_plan_of_faults_may_stand_in_the_file_or_be_named_there) {
  const std::string plan = R"({"entries": [{"name": "a bad cable",
      "pick": {"point": "execute", "engine": "compute"}, "action": {"kind": "fail_at_execution"}}]})";
  const auto program = [](const std::string& config) {
    if (aclInit(config.c_str()) != ACL_SUCCESS) return 1;
    aclrtNotify mark = nullptr;
    if (aclrtSetDevice(0) != ACL_SUCCESS) return 2;
    if (aclrtCreateNotify(&mark, ACL_NOTIFY_DEFAULT) != ACL_SUCCESS) return 3;
    if (aclrtRecordNotify(mark, nullptr) != ACL_SUCCESS) return 4;
    if (aclrtSynchronizeStream(nullptr) == ACL_SUCCESS) return 5;
    const std::string text = aclGetRecentErrMsg();
    return text.find("a bad cable") != std::string::npos ? 0 : 6;
  };
  {
    const file config(R"({"troupe": {"devices": 2, "fault_plan": )" + plan + "}}");
    EXPECT_EQ(in_child([&] { return program(config.path); }), 0);
  }
  const std::string beside = testing::TempDir() + "troupe_acl_plan.json";
  std::ofstream(beside) << plan;
  {
    const file config(R"({"troupe": {"fault_plan": ")" + beside + "\"}}");
    EXPECT_EQ(in_child([&] { return program(config.path); }), 0);
  }
  (void)::unlink(beside.c_str());
  const file wrong(R"({"troupe": {"fault_plan": {"entries": 7}}})");
  EXPECT_EQ(in_child([&] { return aclInit(wrong.path.c_str()) == ACL_ERROR_RT_PARAM_INVALID ? 0 : 1; }),
            0);
}

TEST(acl_init, K1_what_is_not_supported_is_listed_at_exit) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  (void)setenv("TROUPE_ACL_REPORT", "1", 1);
  EXPECT_EQ(in_child([&] {
              (void)dup2(ends[1], STDERR_FILENO);
              if (aclrtSetDevice(0) != ACL_SUCCESS) return 1;
              return aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION) ==
                             ACL_ERROR_RT_FEATURE_NOT_SUPPORT
                         ? 0
                         : 2;
            }),
            0);
  (void)unsetenv("TROUPE_ACL_REPORT");
  (void)close(ends[1]);
  std::string text(4096, '\0');
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, read(ends[0], text.data(), 4096))));
  (void)close(ends[0]);
  EXPECT_NE(text.find("aclrtSetDeviceSatMode 1"), std::string::npos) << text;
}

// Destroyed after `main`, as objects of libraries are.
struct late {
  void* memory = nullptr;
  ~late() {
    if (memory == nullptr) return;
    (void)aclFinalize();
    (void)aclrtFree(memory);
  }
};

TEST(acl_init, J4_static_destructors_may_finalise_and_free) {
  EXPECT_EQ(in_child([] {
              static late holder;
              if (aclInit(nullptr) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return 1;
              return aclrtMalloc(&holder.memory, 64, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS ? 0
                                                                                               : 2;
            }),
            0);
}

}  // namespace
