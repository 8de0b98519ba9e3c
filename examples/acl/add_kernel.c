/* A kernel in a shared object of its own; streams_events.c launches it. */
#include "add_kernel.h"

#include <acl/troupe_kernel.h>

void add(uint32_t block, uint32_t blocks, void* raw);

void add(uint32_t block, uint32_t blocks, void* raw) {
  const struct add_args* args = (const struct add_args*)raw;
  for (size_t i = block; i < args->count; i += blocks) {
    args->sum[i] = args->left[i] + args->right[i];
  }
}
