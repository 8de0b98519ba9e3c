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

struct mixed_args {
  char small;
  double large;
  short middle;
  uint64_t* to;
};

/* The sum of arguments that lie at multiples of their sizes. */
void weigh(uint32_t block, uint32_t blocks, void* raw) {
  const struct mixed_args* args = (const struct mixed_args*)raw;
  (void)block;
  (void)blocks;
  *args->to = (uint64_t)args->small + (uint64_t)args->large + (uint64_t)args->middle;
}
