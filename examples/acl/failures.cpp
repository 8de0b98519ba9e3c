// What a program is told when work fails: by a callback as it happens, with the place; by the next
// wait on that stream, with the words; and nothing at all on other streams. And how a wait that takes
// too long is ended.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "check.h"

namespace {

std::atomic<unsigned> failed_task{0};

void note(aclrtExceptionInfo* info) {
  std::printf("told: task %u of stream %u on device %u failed with %u\n",
              aclrtGetTaskIdFromExceptionInfo(info), aclrtGetStreamIdFromExceptionInfo(info),
              aclrtGetDeviceIdFromExceptionInfo(info), aclrtGetErrorCodeFromExceptionInfo(info));
  failed_task = aclrtGetTaskIdFromExceptionInfo(info);
}

void fine(void*) {}
void fail(void*) { throw std::runtime_error("the third oven is cold"); }
void stay(void* gate) {
  while (!*static_cast<std::atomic<bool>*>(gate)) std::this_thread::yield();
}

// A wait that says why, instead of ending the program.
bool told(aclrtStream stream, const char* words) {
  const aclError code = aclrtSynchronizeStream(stream);
  const char* message = aclGetRecentErrMsg();
  std::printf("the wait says %d: %s\n", code, message != nullptr ? message : "nothing");
  return code != ACL_SUCCESS && message != nullptr && std::strstr(message, words) != nullptr;
}

} // namespace

int main() {
  aclrtStream stream = nullptr;
  aclrtStream other = nullptr;
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtSetExceptionInfoCallback(&note));
  CHECK(aclrtCreateStream(&stream));
  CHECK(aclrtCreateStream(&other));
  CHECK(aclrtLaunchHostFunc(stream, &fine, nullptr));
  CHECK(aclrtLaunchHostFunc(stream, &fail, nullptr)); // accepted: it fails when it runs
  CHECK(aclrtLaunchHostFunc(other, &fine, nullptr));
  if (!told(stream, "the third oven is cold")) return 1;
  CHECK(aclrtSynchronizeStream(other));  // knows nothing of it
  CHECK(aclrtSynchronizeStream(stream)); // it was told once, and the stream goes on
  while (failed_task == 0) std::this_thread::yield();
  if (failed_task != 2) return 1;

  std::atomic<bool> open{false};
  CHECK(aclrtLaunchHostFunc(stream, &stay, &open));
  if (aclrtSynchronizeStreamWithTimeout(stream, 20) != ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) return 1;
  std::printf("after 20 ms: %s\n", aclGetRecentErrMsg());
  CHECK(aclrtStreamAbort(stream));
  open = true;
  CHECK(aclrtLaunchHostFunc(stream, &fine, nullptr)); // it can be used as before
  CHECK(aclrtSynchronizeStream(stream));

  CHECK(aclrtSetExceptionInfoCallback(nullptr));
  CHECK(aclrtDestroyStream(other));
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtResetDevice(0));
  std::puts("done");
  return 0;
}
