#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "actors/arena.hpp"
#include "core/address_map.hpp"
#include "core/status.hpp"

namespace troupe {

class context_record;
class device_record;
class machine;

/// A file of pages without a name, which can be mapped at several addresses at once.
class page_file {
public:
  /// Of `bytes` bytes; `valid` tells whether the system gave it.
  explicit page_file(std::uint64_t bytes) noexcept;
  ~page_file();
  page_file(const page_file&) = delete;
  page_file& operator=(const page_file&) = delete;

  [[nodiscard]] bool valid() const noexcept { return descriptor_ >= 0; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

private:
  int descriptor_ = -1;
};

/// Physical memory of a device: a block of its memory, which counts and limits as every block does,
/// and the pages that stand in for that block's wherever it is mapped. It goes with the last handle
/// and mapping, on whatever thread lets go of it.
class physical_record {
public:
  physical_record(std::shared_ptr<machine> home, device_record& device, std::byte* block,
                  std::uint64_t bytes) noexcept;
  ~physical_record();
  physical_record(const physical_record&) = delete;
  physical_record& operator=(const physical_record&) = delete;

  [[nodiscard]] machine& home() const noexcept { return *home_; }
  [[nodiscard]] device_record& device() const noexcept { return device_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] const page_file& pages() const noexcept { return pages_; }

private:
  const std::shared_ptr<machine> home_;
  device_record& device_;
  std::byte* const block_;
  const std::uint64_t bytes_;
  const page_file pages_;
};

/// Addresses of one device beside those of its memory, for programs that map memory themselves:
/// `address_map` has the rules, this has the lock and does to the host's pages what they say. Any
/// thread; the lock is held for a look at the books and the mapping of pages, never for a wait.
class address_space {
public:
  /// Room for `bytes` bytes. Throws `std::bad_alloc` if the process has no such addresses.
  explicit address_space(std::uint64_t bytes);

  [[nodiscard]] bool contains(const void* address) const noexcept {
    return arena_.contains(address);
  }
  [[nodiscard]] std::byte* address_of(std::uint64_t offset) const noexcept {
    return base_ + offset;
  }

  // As in `address_map`.
  [[nodiscard]] result<address_map::range> reserve(std::uint64_t bytes, std::uint64_t alignment);
  status release(std::uint64_t id, bool force);
  /// Failure besides those of the books: 207001 when the system refuses the mapping.
  status map(std::uint64_t id, std::uint64_t at, std::shared_ptr<physical_record> memory);
  /// Maps pages that are the range's own, all of it, zero: nothing else shows them.
  status map_own(std::uint64_t id, std::uint64_t bytes);
  status unmap(std::uint64_t id, std::uint64_t at);
  status set_access(std::uint64_t id, std::uint64_t context, mapped_access access);
  [[nodiscard]] result<address_map::held> hold(std::uint64_t context, const void* address,
                                               std::uint64_t bytes, access_mode mode);
  void let_go(const address_map::held& what);

private:
  template <class Change>
  auto change(Change&& apply);

  arena arena_;
  std::byte* const base_; // aligned as no range wants it more
  std::mutex guard_;
  address_map books_;
};

} // namespace troupe
