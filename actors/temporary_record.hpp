#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/address_map.hpp"

namespace troupe {

class address_space;
class device_record;

/// A temporary block: addresses of its own, which no other block ever gets while it is held, and a
/// block of the device's memory that it occupies until it is released. Any thread.
class temporary_record {
public:
  temporary_record(device_record& device, address_space& space, address_map::range where,
                   std::uint64_t bytes, std::uint64_t owner) noexcept
      : device_(device), space_(space), where_(where), bytes_(bytes), owner_(owner) {}

  /// Gives the addresses back.
  ~temporary_record();
  temporary_record(const temporary_record&) = delete;
  temporary_record& operator=(const temporary_record&) = delete;

  [[nodiscard]] device_record& device() const noexcept { return device_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; } ///< as asked for
  [[nodiscard]] std::uint64_t owner() const noexcept { return owner_; } ///< its context
  [[nodiscard]] std::byte* data() const noexcept;

  /// The block that it occupies; null while it is released.
  [[nodiscard]] std::byte* block() const noexcept {
    return block_.load(std::memory_order_acquire);
  }
  [[nodiscard]] bool released() const noexcept { return block() == nullptr; }

  /// Opens its addresses, for `block`; false if the system refuses.
  [[nodiscard]] bool occupy(std::byte* block);

  /// Closes them; returns the block to be freed, null if it was released before.
  [[nodiscard]] std::byte* vacate();

private:
  device_record& device_;
  address_space& space_;
  const address_map::range where_;
  const std::uint64_t bytes_;
  const std::uint64_t owner_;
  std::atomic<std::byte*> block_ = nullptr;
};

} // namespace troupe
