#pragma once

#include <cstddef>
#include <cstdint>

#include <acl/troupe_kernel.h>

#include "api/acl/src/objects.hpp"
#include "core/status.hpp"

namespace troupe::acl {

/// What a function's handle stands for.
struct function_object {
  troupeKernel kernel;
  const char* name;  ///< lives for ever
};

inline constexpr std::size_t args_bytes_max = 65'536;

/// Launches `kernel` under `name` (which lives for ever) over `blocks` blocks with a copy of
/// `bytes` argument bytes.
status launch_kernel(stream_object& on, const char* name, troupeKernel kernel, std::uint32_t blocks,
                     const void* args, std::size_t bytes);

/// The same for the function of a handle: 107017 for none, and the failures of a launch.
status launch_function(void* function, std::uint32_t blocks, void* stream, const void* args,
                       std::size_t bytes);

}  // namespace troupe::acl
