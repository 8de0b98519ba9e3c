#include "tests/bench/host_pages.hpp"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace troupe::bench {

gsl::span<std::byte> host_pages(std::size_t bytes) {
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    throw std::bad_alloc();
  std::memset(pages, 1, bytes);
  return {static_cast<std::byte*>(pages), bytes};
}

}  // namespace troupe::bench
