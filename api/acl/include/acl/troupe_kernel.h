/* How a function looks that this library runs as a kernel. */
#ifndef TROUPE_ACL_TROUPE_KERNEL_H
#define TROUPE_ACL_TROUPE_KERNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A kernel. It is called once for each block, from several threads at once: this call is block
 * `block` of `blocks`. `args` is the library's copy of the argument bytes, shared by all blocks of
 * the launch, which must not change it. Device addresses in it can be used as they are. It must not
 * call the runtime, nor let an exception out. */
typedef void (*troupeKernel)(uint32_t block, uint32_t blocks, void* args);

#ifdef __cplusplus
}
#endif

#endif /* TROUPE_ACL_TROUPE_KERNEL_H */
