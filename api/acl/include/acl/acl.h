/* The whole runtime interface but for allocators, profiling and channels. */
#ifndef TROUPE_ACL_H
#define TROUPE_ACL_H

#include "acl_rt.h"
#include "acl_op.h"
#include "acl_mdl.h"

#endif /* TROUPE_ACL_H */
