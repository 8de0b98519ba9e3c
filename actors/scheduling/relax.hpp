#pragma once

namespace troupe {

/// Tells the processor that the calling thread polls; a few tens of cycles.
inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

} // namespace troupe
