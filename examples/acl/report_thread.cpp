// Callbacks in stream order, called by a thread of the program that processes reports.
#include <atomic>
#include <cstdio>
#include <thread>

#include <pthread.h>

#include "check.h"

namespace {

constexpr int tasks = 10;
std::atomic<int> called{0};

void note(void* number) {
  const int at = called++;
  if (at != static_cast<int>(reinterpret_cast<std::size_t>(number))) std::puts("out of order");
}

} // namespace

int main() {
  CHECK(aclrtSetDevice(0));
  aclrtContext context = nullptr;
  aclrtStream stream = nullptr;
  CHECK(aclrtGetCurrentContext(&context));
  CHECK(aclrtCreateStream(&stream));
  std::atomic<bool> over{false};
  std::thread reports([&] {
    CHECK(aclrtSetCurrentContext(context));
    while (!over) (void)aclrtProcessReport(100); // says when it is not subscribed, or none came
  });
  const auto id = static_cast<std::uint64_t>(reports.native_handle());
  CHECK(aclrtSubscribeReport(id, stream));
  for (std::size_t i = 0; i < tasks; ++i) {
    CHECK(aclrtLaunchCallback(&note, reinterpret_cast<void*>(i), ACL_CALLBACK_BLOCK, stream));
  }
  CHECK(aclrtSynchronizeStream(stream));
  CHECK(aclrtUnSubscribeReport(id, stream));
  over = true;
  reports.join();
  std::printf("%d of %d callbacks came\n", called.load(), tasks);
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtResetDevice(0));
  return called == tasks ? 0 : 1;
}
