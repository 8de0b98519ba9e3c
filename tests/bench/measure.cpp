#include "tests/bench/measure.hpp"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace troupe::bench {

namespace {

double cpu_seconds() {
  rusage use{};
  if (getrusage(RUSAGE_SELF, &use) != 0)
    throw std::runtime_error("getrusage failed");
  auto seconds = [](const timeval& t) {
    return gsl::narrow_cast<double>(t.tv_sec) + gsl::narrow_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

double heap_bytes() {
  const auto heap = mallinfo2();
  return gsl::narrow_cast<double>(heap.uordblks + heap.hblkhd);
}

double resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  double total_pages = 0;
  double resident_pages = 0;
  if (!(statm >> total_pages >> resident_pages))
    throw std::runtime_error("cannot read the process's resident pages");
  return resident_pages * gsl::narrow_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace

double idle_cpu_percent(double seconds) {
  Expects(seconds > 0);
  // Pools of threads spin for a while before they sleep; that is the end of work, not idleness.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto wall_start = std::chrono::steady_clock::now();
  const auto cpu_start = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const auto cpu_spent = cpu_seconds() - cpu_start;
  const std::chrono::duration<double> wall_spent = std::chrono::steady_clock::now() - wall_start;
  return 100 * cpu_spent / wall_spent.count();
}

growth::growth() : heap_at_start_(heap_bytes()), resident_at_start_(resident_bytes()) {}

double growth::bytes() const {
  return std::max({heap_bytes() - heap_at_start_, resident_bytes() - resident_at_start_, 0.0});
}

}  // namespace troupe::bench
