#pragma once

#include <acl/acl_rt.h>

#include "core/status.hpp"
#include "troupe/copy_kind.hpp"

namespace troupe::acl {

/// The direction that a program names; 100000 for a number that names none.
[[nodiscard]] result<copy_kind> kind_of(const char* call, aclrtMemcpyKind kind);

}  // namespace troupe::acl
