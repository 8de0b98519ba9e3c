#pragma once

#include <cfenv>
#include <cstdint>
#include <utility>

#include "api/acl/src/objects.hpp"
#include "core/status.hpp"

namespace troupe::acl {

/// Runs `work`, and sets `seen` if floating-point arithmetic of this thread meanwhile gave an
/// infinity or no number out of numbers, as the processor's flags tell.
template <class Work>
void watch_overflow(overflow_flag& seen, Work&& work) {
  constexpr int flags = FE_OVERFLOW | FE_DIVBYZERO | FE_INVALID;
  std::feclearexcept(flags);
  std::forward<Work>(work)();
  if (std::fetestexcept(flags) != 0) seen.store(true, std::memory_order_release);
}

/// Whether kernels given to the stream from now on are watched: 0 or 1, else 107000.
status set_overflow_watch(void* stream, std::uint32_t flag);

}  // namespace troupe::acl
