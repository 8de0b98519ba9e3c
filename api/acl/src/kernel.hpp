#pragma once

#include <cstddef>
#include <cstdint>

#include <acl/troupe_kernel.h>

#include "api/acl/src/objects.hpp"
#include "core/status.hpp"

namespace troupe::acl {

/// Launches `kernel` under `name` (which lives for ever) over `blocks` blocks with a copy of
/// `bytes` argument bytes.
status launch_kernel(stream_object& on, const char* name, troupeKernel kernel, std::uint32_t blocks,
                     const void* args, std::size_t bytes);

}  // namespace troupe::acl
