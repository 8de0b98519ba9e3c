#include "tests/soak/vitals.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <unistd.h>

namespace troupe::soak {

namespace {

std::size_t count_entries(const char* folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

std::size_t resident_bytes() {
  std::ifstream from("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  if (!(from >> total >> resident)) throw std::runtime_error("cannot read /proc/self/statm");
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace

vitals take_vitals(const runtime& of) {
  vitals made;
  made.resident_bytes = resident_bytes();
  made.descriptors = count_entries("/proc/self/fd");
  made.threads = count_entries("/proc/self/task");
  made.host_bytes = of.host_memory().value().used;
  for (std::size_t index = 0; index < of.device_count(); ++index) {
    const auto device = of.device(static_cast<std::int64_t>(index)).value();
    const auto counted = device.counters();
    made.streams += counted.streams;
    made.events += counted.events;
    if (const auto memory = device.memory()) made.device_bytes += memory.value().used;
  }
  return made;
}

} // namespace troupe::soak
