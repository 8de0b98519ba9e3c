/* Two streams: one brings the numbers to the device, the other waits for that by an event, adds them
 * with a kernel from a shared object (its path is the argument), and takes them back. */
#include <stdio.h>

#include "add_kernel.h"
#include "check.h"

enum { COUNT = 4096, BLOCKS = 8 };

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s libadd_kernel.so\n", argv[0]);
    return 2;
  }
  const size_t bytes = COUNT * sizeof(float);
  void* pinned = NULL;
  void* device = NULL;
  aclrtStream upload = NULL;
  aclrtStream compute = NULL;
  aclrtEvent arrived = NULL;
  aclrtBinHandle binary = NULL;
  aclrtFuncHandle add = NULL;
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtCreateStream(&upload));
  CHECK(aclrtCreateStream(&compute));
  CHECK(aclrtCreateEventExWithFlag(&arrived, ACL_EVENT_SYNC));
  CHECK(aclrtBinaryLoadFromFile(argv[1], NULL, &binary));
  CHECK(aclrtBinaryGetFunction(binary, "add", &add));
  CHECK(aclrtMallocHost(&pinned, 2 * bytes));
  CHECK(aclrtMalloc(&device, 3 * bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  float* host = (float*)pinned;
  float* memory = (float*)device;
  for (int i = 0; i < 2 * COUNT; ++i) host[i] = 1.5F;

  CHECK(aclrtMemcpyAsync(memory, 2 * bytes, host, 2 * bytes, ACL_MEMCPY_HOST_TO_DEVICE, upload));
  CHECK(aclrtRecordEvent(arrived, upload));
  CHECK(aclrtStreamWaitEvent(compute, arrived));
  struct add_args args = {memory, memory + COUNT, memory + 2 * COUNT, COUNT};
  CHECK(aclrtLaunchKernelWithHostArgs(add, BLOCKS, compute, NULL, &args, sizeof args, NULL, 0));
  CHECK(aclrtMemcpyAsync(host, bytes, args.sum, bytes, ACL_MEMCPY_DEVICE_TO_HOST, compute));
  CHECK(aclrtSynchronizeStream(compute));

  int right = 0;
  for (int i = 0; i < COUNT; ++i) right += host[i] == 3.0F;
  printf("%d of %d sums are right\n", right, (int)COUNT);
  CHECK(aclrtFree(device));
  CHECK(aclrtFreeHost(pinned));
  CHECK(aclrtBinaryUnLoad(binary));
  CHECK(aclrtDestroyEvent(arrived));
  CHECK(aclrtDestroyStream(compute));
  CHECK(aclrtDestroyStream(upload));
  CHECK(aclrtResetDevice(0));
  return right == COUNT ? 0 : 1;
}
