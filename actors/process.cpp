#include "actors/process.hpp"

#include <pthread.h>

#include "core/task.hpp"

namespace troupe {
namespace detail {

std::atomic<std::uint32_t> forks = 0;
constinit thread_local std::uint32_t thread_number = 0;

std::uint32_t number_thread() noexcept {
  static std::atomic<std::uint32_t> given = 0;
  thread_number = given.fetch_add(1, std::memory_order_relaxed) + 1;
  return thread_number;
}

} // namespace detail

namespace {

// What is shared by the whole process and guarded by a lock is held while it forks: the child has
// no other thread that could give the lock back.
void before_fork() { detail::hold_names(); }

void after_fork_in_parent() { detail::release_names(); }

void after_fork_in_child() {
  detail::release_names();
  detail::forks.fetch_add(1, std::memory_order_relaxed);
}

} // namespace

void watch_forks() noexcept {
  [[maybe_unused]] static const int registered = pthread_atfork(
      &before_fork, &after_fork_in_parent, &after_fork_in_child);
}

} // namespace troupe
