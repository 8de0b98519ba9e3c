#pragma once

#include "troupe/duration.hpp"

namespace troupe::acl {

/// How long streams wait for events at most, of the whole process (aclrtSetOpWaitTimeout): holds
/// for waits that are submitted from now on. Any thread.
[[nodiscard]] timeout wait_limit() noexcept;

}  // namespace troupe::acl
