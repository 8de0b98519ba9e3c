#include "actors/process.hpp"

#include <pthread.h>

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

void count_fork() { detail::forks.fetch_add(1, std::memory_order_relaxed); }

} // namespace

void watch_forks() noexcept {
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, &count_fork);
}

} // namespace troupe
