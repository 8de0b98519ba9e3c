#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <gsl/gsl>

namespace troupe {

/// A range of address space that costs nothing until it is used. Device memory is one such range
/// per device; a pointer tells by its address whose it is. Pages become accessible when opened and
/// are backed by the host when first touched.
class arena {
public:
  /// Reserves `bytes`, rounded up to whole pages, at a multiple of 2 MiB. Throws `std::bad_alloc` if
  /// the address space has no such range. A few that were never opened are kept for the next of their
  /// size: simulated runs make and end arenas by the ten thousand a second.
  explicit arena(std::uint64_t bytes);
  ~arena();
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  /// Makes [offset, offset + bytes) readable and writable; false if the system refuses.
  [[nodiscard]] bool open(std::uint64_t offset, std::uint64_t bytes) noexcept;

  /// Gives the pages of the range back to the host; their contents are lost.
  void discard(std::uint64_t offset, std::uint64_t bytes) noexcept;

  /// Shows the first `bytes` of a file of pages at `at`, whole pages, to read and write; false if
  /// the system refuses, with its reason in `errno`.
  [[nodiscard]] bool show(std::byte* at, std::uint64_t bytes, int file) noexcept;

  /// Closes [at, at + bytes), whole pages, as they were at first.
  void shut(std::byte* at, std::uint64_t bytes) noexcept;

  [[nodiscard]] std::byte* base() const noexcept { return base_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] bool contains(const void* address) const noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const auto start = reinterpret_cast<std::uintptr_t>(base_);
    return at >= start && at - start < bytes_;
  }

private:
  void reserve();

  std::byte* base_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::atomic<bool> touched_ = false; // opened or shown, at least in part
};

/// Memory of this machine that the process may count on, in bytes: physical memory or, if lower,
/// the limit of its control group.
[[nodiscard]] std::uint64_t host_memory_bytes();

/// The host memory behind all arenas of this process, of all runtimes together. Running out is
/// found here, at allocation, and not by the kernel's killer at some later touch.
namespace memory_budget {

/// Takes `bytes` if the total then stays within `limit`.
[[nodiscard]] bool charge(std::uint64_t bytes, std::uint64_t limit) noexcept;
void release(std::uint64_t bytes) noexcept;
[[nodiscard]] std::uint64_t charged() noexcept;

} // namespace memory_budget

} // namespace troupe
