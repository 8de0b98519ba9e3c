#pragma once

#include <cstdint>

namespace troupe {

/// Counts the forks between the first process of this program and the calling one. A runtime that
/// was started in a parent has no threads in the child; comparing this number tells so without a
/// system call or a lock. Any thread.
[[nodiscard]] std::uint32_t fork_generation() noexcept;

/// A small number for the calling thread, from 1 in the order of asking; what error records and
/// traces call the thread.
[[nodiscard]] std::uint32_t this_thread_number() noexcept;

} // namespace troupe
