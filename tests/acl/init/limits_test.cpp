// Limits that a program's configuration sets: streams, events and the depth of queues.

#include <atomic>
#include <thread>
#include <vector>

#include <acl/acl.h>

#include "tests/acl/init/in_child.hpp"

namespace {

TEST(acl_limits, J1_streams_and_events_run_out_with_their_own_codes_and_come_back) {
  const file config(R"({"troupe": {"devices": [{"name": "Small", "stream_limit": 3,
      "event_limit": 2}]}})");
  EXPECT_EQ(in_child([&] {
              if (aclInit(config.path.c_str()) != ACL_SUCCESS) return 1;
              if (aclrtSetDevice(0) != ACL_SUCCESS) return 2;
              std::vector<aclrtStream> streams;
              aclrtStream stream = nullptr;
              int told = ACL_SUCCESS;
              while ((told = aclrtCreateStream(&stream)) == ACL_SUCCESS && streams.size() < 9) {
                streams.push_back(stream);
              }
              if (told != ACL_ERROR_RT_RESOURCE_ALLOC_FAIL) return 3;
              if (streams.empty() || streams.size() > 3) return 4;
              if (aclmdlRICaptureBegin(streams[0], ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) !=
                  ACL_ERROR_RT_NO_STREAM_RESOURCE) {
                return 5;
              }
              aclrtEvent events[3] = {};
              if (aclrtCreateEvent(&events[0]) != ACL_SUCCESS) return 6;
              if (aclrtCreateEvent(&events[1]) != ACL_SUCCESS) return 7;
              if (aclrtCreateEvent(&events[2]) != ACL_ERROR_RT_NO_EVENT_RESOURCE) return 8;
              if (events[2] != nullptr) return 9;
              if (aclrtDestroyEvent(events[0]) != ACL_SUCCESS) return 10;
              if (aclrtCreateEvent(&events[2]) != ACL_SUCCESS) return 11;
              if (aclrtDestroyStream(streams[0]) != ACL_SUCCESS) return 12;
              return aclrtCreateStream(&stream) == ACL_SUCCESS ? 0 : 13;
            }),
            0);
}

// A host function that holds its stream.
std::atomic<bool> open{false};
void hold(void*) {
  open.wait(false);
}
void nothing(void*) {}

TEST(acl_limits, J3_a_full_queue_refuses_in_time_drops_nothing_and_an_abort_gets_through) {
  const file config(R"({"troupe": {"queue_depth": 16, "submit_timeout_ms": 0}})");
  EXPECT_EQ(in_child([&] {
              if (aclInit(config.path.c_str()) != ACL_SUCCESS) return 1;
              if (aclrtSetDevice(0) != ACL_SUCCESS) return 2;
              aclrtStream stream = nullptr;
              if (aclrtCreateStream(&stream) != ACL_SUCCESS) return 3;
              if (aclrtLaunchHostFunc(stream, &hold, nullptr) != ACL_SUCCESS) return 4;
              int accepted = 0;
              int told = ACL_SUCCESS;
              while (accepted < 100 &&
                     (told = aclrtLaunchHostFunc(stream, &nothing, nullptr)) == ACL_SUCCESS) {
                ++accepted;
              }
              if (told != 207014 || accepted < 14 || accepted > 16) return 5;
              if (aclrtStreamAbort(stream) != ACL_SUCCESS) return 6;
              open = true;
              open.notify_all();
              // There is room again as soon as the held one has returned.
              while ((told = aclrtLaunchHostFunc(stream, &nothing, nullptr)) == 207014) {
                std::this_thread::yield();
              }
              if (told != ACL_SUCCESS) return 7;
              return aclrtSynchronizeStream(stream) == ACL_SUCCESS ? 0 : 8;
            }),
            0);
}

TEST(acl_limits, A8_a_child_of_a_parent_that_only_asked_for_the_count_may_begin) {
  EXPECT_EQ(in_child([] {
              std::uint32_t count = 0;
              if (aclrtGetDeviceCount(&count) != ACL_SUCCESS) return 1;
              const auto child = fork();
              if (child == 0) {
                alarm(30);
                const auto told = aclrtSetDevice(0);
                std::_Exit(told == ACL_SUCCESS || told == ACL_ERROR_RT_FEATURE_NOT_SUPPORT ? 0 : 1);
              }
              int end = 0;
              if (waitpid(child, &end, 0) != child || !WIFEXITED(end)) return 2;
              return WEXITSTATUS(end) == 0 ? 0 : 3;
            }),
            0);
}

}  // namespace
