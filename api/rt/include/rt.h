/* A small runtime interface with short names: streams, events, memory, copies, kernels, pools. */
#ifndef TROUPE_RT_H
#define TROUPE_RT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 0 on success, else a code of acl/error_codes/rt_error_codes.h or acl/acl_base.h. */
typedef int rtError_t;
typedef void* rtStream_t;
typedef void* rtEvent_t;

/* A kernel: this call is block `block` of `blocks`; `args` is the library's copy of the arguments. */
typedef void (*rtKernel_t)(uint32_t block, uint32_t blocks, void* args);

typedef enum { RT_MEMALLOC_DEFAULT = 0 } rtMemAlloc_t;

typedef enum {
  RT_MEMCPY_HOST_TO_HOST = 0,
  RT_MEMCPY_HOST_TO_DEVICE = 1,
  RT_MEMCPY_DEVICE_TO_HOST = 2,
  RT_MEMCPY_DEVICE_TO_DEVICE = 3
} rtMemcpyKind_t;

/* A thread without a current device gets device 0 with its first call that needs one. */

/* Streams. Priority 0 is the greatest, 7 the least. */
rtError_t rtStreamCreate(rtStream_t* stream, int32_t priority);
rtError_t rtStreamDestroy(rtStream_t stream);
rtError_t rtStreamSynchronize(rtStream_t stream);

/* Events. */
rtError_t rtEventCreate(rtEvent_t* event);
rtError_t rtEventDestroy(rtEvent_t event);
rtError_t rtEventRecord(rtEvent_t event, rtStream_t stream);
rtError_t rtStreamWaitEvent(rtStream_t stream, rtEvent_t event);

/* Device memory, in bytes, and copies. An asynchronous copy of ordinary host memory returns when it
 * has run. */
rtError_t rtMalloc(void** address, size_t bytes, rtMemAlloc_t policy);
rtError_t rtFree(void* address);
rtError_t rtMemcpy(void* target, const void* source, size_t bytes, rtMemcpyKind_t kind);
rtError_t rtMemcpyAsync(void* target, const void* source, size_t bytes, rtMemcpyKind_t kind,
    rtStream_t stream);

/* Runs `kernel` once (one block) with a copy of `bytes` bytes at `args`; `config` is reserved, null. */
rtError_t rtKernelLaunch(rtKernel_t kernel, rtStream_t stream, void* args, size_t bytes,
    void* config);

/* Divides memory the caller has allocated: `pool_bytes` at `pool`. The first call for a `pool` sets
 * it up; later ones must name the same size. `mem_pool_alloc` gives `bytes` bytes, aligned to 64,
 * and answers 207001 when no hole is large enough; `mem_pool_free` takes a block back, which the
 * caller's work must be done with. When all blocks are back the pool is forgotten. */
rtError_t mem_pool_alloc(void* pool, size_t pool_bytes, void** block, size_t bytes);
rtError_t mem_pool_free(void* pool, void* block);

#ifdef __cplusplus
}
#endif

#endif /* TROUPE_RT_H */
