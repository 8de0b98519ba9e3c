#pragma once

#include <atomic>
#include <cstdint>

namespace troupe {

namespace detail {
extern std::atomic<std::uint32_t> forks;
extern constinit thread_local std::uint32_t thread_number; // 0: not yet given
std::uint32_t number_thread() noexcept;
} // namespace detail

/// Begins to count forks; before that `fork_generation` stays 0. From then on the locks of the
/// whole process can be taken in a forked child. Any thread, any number of times.
void watch_forks() noexcept;

/// Counts the forks between the first process of this program and the calling one. A runtime that
/// was started in a parent has no threads in the child; comparing this number tells so without a
/// system call or a lock. Any thread.
[[nodiscard]] inline std::uint32_t fork_generation() noexcept {
  return detail::forks.load(std::memory_order_relaxed);
}

/// A small number for the calling thread, from 1 in the order of asking; what error records and
/// traces call the thread.
[[nodiscard]] inline std::uint32_t this_thread_number() noexcept {
  return detail::thread_number != 0 ? detail::thread_number : detail::number_thread();
}

} // namespace troupe
