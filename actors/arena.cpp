#include "actors/arena.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "actors/process.hpp"

namespace troupe {
namespace {

std::uint64_t page_bytes() {
  static const auto size = gsl::narrow<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return size;
}

// So that a huge page of the arena is one of the host's.
constexpr std::uint64_t base_alignment = std::uint64_t{2} << 20;

std::atomic<std::uint64_t> charged_bytes = 0;

// Ranges that nobody has opened, for those who want as much. Without a lock: a forked child would
// find it held. The child leaves its parent's alone.
class spare_ranges {
public:
  struct range {
    std::byte* base;
    std::uint64_t bytes;
    std::uint32_t made_in = fork_generation();
  };

  // One of that size; null if there is none.
  std::byte* take(std::uint64_t bytes) {
    for (auto& place : places_) {
      const auto found = take_from(place);
      if (!found) continue;
      if (found->bytes == bytes) return found->base;
      if (!keep(found->base, found->bytes)) munmap(found->base, found->bytes);
    }
    return nullptr;
  }

  // False if there is no place for it.
  bool keep(std::byte* base, std::uint64_t bytes) {
    std::unique_ptr<range> made(new (std::nothrow) range{base, bytes});
    if (!made) return false;
    for (auto& place : places_) {
      range* none = nullptr;
      if (!place.compare_exchange_strong(none, made.get())) continue;
      (void)made.release();
      return true;
    }
    return false;
  }

  void give_back() {
    for (auto& place : places_) {
      if (const auto found = take_from(place)) munmap(found->base, found->bytes);
    }
  }

private:
  static std::optional<range> take_from(std::atomic<range*>& place) {
    const std::unique_ptr<range> found(place.exchange(nullptr));
    const bool ours = found && found->made_in == fork_generation();
    return ours ? std::optional(*found) : std::nullopt;
  }

  std::array<std::atomic<range*>, 8> places_{};
};

spare_ranges& spare() {
  static auto& all = *new spare_ranges;
  return all;
}

} // namespace

arena::arena(std::uint64_t bytes) {
  if (bytes > UINT64_MAX - page_bytes()) throw std::bad_alloc(); // the rounding would wrap
  bytes_ = (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
  if (bytes_ > UINT64_MAX - base_alignment) throw std::bad_alloc();
  base_ = spare().take(bytes_);
  if (base_ == nullptr) reserve();
}

void arena::reserve() {
  const auto more = bytes_ + base_alignment;
  const auto ask = [more] {
    return mmap(nullptr, more, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  };
  auto* got = ask();
  if (got == MAP_FAILED) {
    spare().give_back();
    got = ask();
  }
  if (got == MAP_FAILED) throw std::bad_alloc();
  // What is not needed for the alignment goes back.
  auto* const first = static_cast<std::byte*>(got);
  const auto crooked = reinterpret_cast<std::uintptr_t>(first) % base_alignment;
  const auto skipped = crooked == 0 ? 0 : base_alignment - crooked;
  base_ = first + skipped;
  if (skipped != 0) munmap(first, skipped);
  if (skipped != base_alignment) munmap(base_ + bytes_, base_alignment - skipped);
}

arena::~arena() {
  if (touched_ || !spare().keep(base_, bytes_)) munmap(base_, bytes_);
}

bool arena::open(std::uint64_t offset, std::uint64_t bytes) noexcept {
  const auto first = offset / page_bytes() * page_bytes();
  const auto end = (offset + bytes + page_bytes() - 1) / page_bytes() * page_bytes();
  const auto last = std::min(bytes_, end);
  touched_.store(true, std::memory_order_relaxed);
  return mprotect(base_ + first, last - first, PROT_READ | PROT_WRITE) == 0;
}

void arena::discard(std::uint64_t offset, std::uint64_t bytes) noexcept {
  madvise(base_ + offset, bytes, MADV_DONTNEED);
}

bool arena::show(std::byte* at, std::uint64_t bytes, int file) noexcept {
  touched_.store(true, std::memory_order_relaxed);
  return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED;
}

void arena::shut(std::byte* at, std::uint64_t bytes) noexcept {
  constexpr auto empty = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  (void)mmap(at, bytes, PROT_NONE, empty, -1, 0); // the place is ours: nothing to be short of
}

std::uint64_t host_memory_bytes() {
  static const auto known = [] {
    const auto pages = gsl::narrow<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
    auto bytes = pages * page_bytes();
    // "max" or a missing file (no control group) leaves the physical size.
    std::ifstream file("/sys/fs/cgroup/memory.max");
    if (std::uint64_t limit = 0; file >> limit) bytes = std::min(bytes, limit);
    return bytes;
  }();
  return known;
}

namespace memory_budget {

bool charge(std::uint64_t bytes, std::uint64_t limit) noexcept {
  auto before = charged_bytes.load(std::memory_order_relaxed);
  do {
    if (before > limit || bytes > limit - before) return false;
  } while (!charged_bytes.compare_exchange_weak(before, before + bytes));
  return true;
}

void release(std::uint64_t bytes) noexcept { charged_bytes.fetch_sub(bytes); }

std::uint64_t charged() noexcept { return charged_bytes.load(); }

} // namespace memory_budget
} // namespace troupe
