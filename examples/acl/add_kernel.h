/* The arguments of kernel `add`: device addresses, and elements in each. */
#ifndef TROUPE_EXAMPLES_ACL_ADD_KERNEL_H
#define TROUPE_EXAMPLES_ACL_ADD_KERNEL_H

#include <stddef.h>

struct add_args {
  const float* left;
  const float* right;
  float* sum;
  size_t count;
};

#endif /* TROUPE_EXAMPLES_ACL_ADD_KERNEL_H */
