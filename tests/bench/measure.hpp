#pragma once

#include <gsl/gsl>

#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

namespace troupe::bench {

/// Runs `work` once and returns its wall time in nanoseconds, divided by `count`.
template <class Work>
[[nodiscard]] double ns_each(std::size_t count, Work&& work) {
  Expects(count > 0);
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
  return spent.count() / gsl::narrow_cast<double>(count);
}

/// Calls `work(client)` on `clients` threads at once and returns when all have returned. Starting
/// the threads is part of the cost, the same for every contender.
template <class Work>
void on_clients(std::size_t clients, const Work& work) {
  std::vector<std::thread> threads;
  threads.reserve(clients);
  for (std::size_t client = 0; client < clients; ++client)
    threads.emplace_back([&work, client] { work(client); });
  for (auto& thread : threads)
    thread.join();
}

/// Sleeps for `seconds` and returns the processor time that the whole process used meanwhile, in
/// percent of one core. Lets what was busy before come to rest first.
[[nodiscard]] double idle_cpu_percent(double seconds);

/// Memory that one more of something takes. Heap and page pools grow in steps, so the figure is
/// taken over all that was added since the beginning and not over the last repetition alone.
class growth {
public:
  growth();

  /// Runs `grow`, which makes `count` more and keeps them (throughout the life of this object).
  /// Returns the bytes that each of those made so far takes: the growth of the heap or of the
  /// resident pages, whichever is larger, as the heap misses what is mapped directly and the pages
  /// miss what fits into freed memory.
  template <class Grow>
  [[nodiscard]] double add(std::size_t count, Grow&& grow) {
    Expects(count > 0);
    grow();
    count_ += count;
    return bytes() / gsl::narrow_cast<double>(count_);
  }

private:
  [[nodiscard]] double bytes() const;

  double heap_at_start_;
  double resident_at_start_;
  std::size_t count_ = 0;
};

}  // namespace troupe::bench
