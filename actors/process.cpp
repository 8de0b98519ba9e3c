#include "actors/process.hpp"

#include <atomic>

#include <pthread.h>

namespace troupe {
namespace {

std::atomic<std::uint32_t> forks = 0;
std::atomic<std::uint32_t> threads_seen = 0;

void count_fork() { forks.fetch_add(1, std::memory_order_relaxed); }

} // namespace

std::uint32_t fork_generation() noexcept {
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, &count_fork);
  return forks.load(std::memory_order_relaxed);
}

std::uint32_t this_thread_number() noexcept {
  thread_local const auto number = threads_seen.fetch_add(1, std::memory_order_relaxed) + 1;
  return number;
}

} // namespace troupe
