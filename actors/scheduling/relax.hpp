#pragma once

#include <thread>

namespace troupe {

/// Tells the processor that the calling thread polls; a few tens of cycles.
inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// Lets another thread that wants this core have it; about half a microsecond if there is none.
inline void yield_core() noexcept { std::this_thread::yield(); }

} // namespace troupe
