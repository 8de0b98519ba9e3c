/* A graph captured from two streams and replayed: sum = sum + step, again and again, without naming
 * the work anew. The path of the kernel's shared object is the argument. */
#include <stdio.h>

#include "add_kernel.h"
#include "check.h"

enum { COUNT = 1024, BLOCKS = 4, REPLAYS = 10 };

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s libadd_kernel.so\n", argv[0]);
    return 2;
  }
  const size_t bytes = COUNT * sizeof(float);
  void* device = NULL;
  void* pinned = NULL;
  aclrtStream stream = NULL;
  aclrtStream side = NULL;
  aclrtEvent fork = NULL;
  aclrtEvent join = NULL;
  aclrtBinHandle binary = NULL;
  aclrtFuncHandle add = NULL;
  aclmdlRI graph = NULL;
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtCreateStream(&stream));
  CHECK(aclrtCreateStream(&side));
  CHECK(aclrtCreateEventExWithFlag(&fork, ACL_EVENT_SYNC));
  CHECK(aclrtCreateEventExWithFlag(&join, ACL_EVENT_SYNC));
  CHECK(aclrtBinaryLoadFromFile(argv[1], NULL, &binary));
  CHECK(aclrtBinaryGetFunction(binary, "add", &add));
  CHECK(aclrtMalloc(&device, 2 * bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMallocHost(&pinned, 2 * bytes));
  float* const sum = (float*)device;
  float* const step = sum + COUNT;
  float* const host = (float*)pinned;
  for (int i = 0; i < COUNT; ++i) host[i] = 0.5F;

  /* From here on nothing runs: what the streams are given becomes a graph. */
  CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  CHECK(aclrtRecordEvent(fork, stream));
  CHECK(aclrtStreamWaitEvent(side, fork));
  CHECK(aclrtMemcpyAsync(step, bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE, side));
  CHECK(aclrtRecordEvent(join, side));
  CHECK(aclrtStreamWaitEvent(stream, join));
  struct add_args args = {sum, step, sum, COUNT};
  CHECK(aclrtLaunchKernelWithHostArgs(add, BLOCKS, stream, NULL, &args, sizeof args, NULL, 0));
  CHECK(aclmdlRICaptureEnd(stream, &graph));

  CHECK(aclrtMemset(sum, bytes, 0, bytes));
  for (int i = 0; i < REPLAYS; ++i) CHECK(aclmdlRIExecuteAsync(graph, stream));
  CHECK(aclrtMemcpyAsync(host + COUNT, bytes, sum, bytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  CHECK(aclrtSynchronizeStream(stream));
  int right = 0;
  for (int i = 0; i < COUNT; ++i) right += host[COUNT + i] == 0.5F * REPLAYS;
  printf("%d of %d sums are right after %d replays\n", right, (int)COUNT, (int)REPLAYS);

  CHECK(aclmdlRIDestroy(graph));
  CHECK(aclrtFreeHost(pinned));
  CHECK(aclrtFree(device));
  CHECK(aclrtBinaryUnLoad(binary));
  CHECK(aclrtDestroyEvent(join));
  CHECK(aclrtDestroyEvent(fork));
  CHECK(aclrtDestroyStream(side));
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtResetDevice(0));
  return right == COUNT ? 0 : 1;
}
