#include <stddef.h>

#include <acl/troupe_kernel.h>

struct add_args {
  const float* left;
  const float* right;
  float* sum;
  size_t count;
};

/* sum = left + right, the elements dealt out to the blocks in turn. */
void add(uint32_t block, uint32_t blocks, void* raw) {
  const struct add_args* args = (const struct add_args*)raw;
  for (size_t i = block; i < args->count; i += blocks) args->sum[i] = args->left[i] + args->right[i];
}
