// A context for each thread, each on a device of its own; and what a mistake says.
#include <cstdio>
#include <thread>
#include <vector>

#include "check.h"

namespace {

void work(int device) {
  aclrtContext context = nullptr;
  void* memory = nullptr;
  std::vector<char> host(1 << 20);
  CHECK(aclrtCreateContext(&context, device));
  CHECK(aclrtMalloc(&memory, host.size(), ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMemset(memory, host.size(), device + 1, host.size()));
  CHECK(aclrtMemcpy(host.data(), host.size(), memory, host.size(), ACL_MEMCPY_DEVICE_TO_HOST));
  std::printf("device %d: the last byte is %d\n", device, host.back());
  CHECK(aclrtFree(memory));
  CHECK(aclrtDestroyContext(context));
}

} // namespace

int main() {
  CHECK(aclInit(nullptr));
  std::vector<std::thread> threads;
  for (int device = 0; device < 4; ++device) threads.emplace_back(&work, device);
  for (auto& each : threads) each.join();

  // This thread has no context: the call says so, changes nothing, and is the thread's last error.
  void* none = nullptr;
  if (aclrtMalloc(&none, 64, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_ERROR_RT_CONTEXT_NULL) return 1;
  std::printf("without a context: %s\n", aclGetRecentErrMsg());
  if (aclrtGetLastError(ACL_RT_THREAD_LEVEL) != ACL_ERROR_RT_CONTEXT_NULL) return 1;
  CHECK(aclFinalize());
  return 0;
}
