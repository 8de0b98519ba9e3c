#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/status.hpp"
#include "troupe/address_range.hpp"
#include "troupe/device.hpp"

namespace troupe::acl {

struct context_object;

/// What a handle of physical memory stands for.
struct physical_object {
  physical_memory memory;
};

/// The address ranges that programs have reserved, by address, and what is mapped in them. Every
/// context of a range's device may use it, unless the program says otherwise. Any thread.
class reservations {
 public:
  /// Addresses on `where`, with nothing mapped.
  [[nodiscard]] result<void*> reserve(const device& where, std::size_t bytes,
                                      std::size_t alignment);

  /// 107000 when no range begins at `address`, or something is mapped in it.
  status release(void* address);

  /// Maps all of `memory`, `bytes` bytes, at `address` within a range. Failures as of
  /// `address_range::map`, and 107000 for another size and for an address in no range.
  status map(void* address, std::size_t bytes, const physical_memory& memory);

  /// Ends the mapping that begins at `address`, else 107000.
  status unmap(void* address);

  /// What is mapped where `address` lies; 107000 for nothing.
  [[nodiscard]] result<physical_memory> memory_at(const void* address) const;

  struct device_access {
    std::uint32_t device;
    mapped_access access;
  };
  /// What contexts of devices may do in the `bytes` bytes at `address`; of several for one device
  /// the last counts. Failures: 107000 for an address in no range and bytes that leave it; 207000
  /// for another device than the range's, and for a part that would differ from the rest.
  status set_access(const void* address, std::size_t bytes,
                    const std::vector<device_access>& wanted);

  /// `who` has just been made: it may use what there is on its device.
  void welcome(const std::shared_ptr<context_object>& who);

  struct entry {
    address_range range;
    std::uint32_t device;
    std::map<std::size_t, physical_memory> mapped;  // by offset
    mapped_access access = mapped_access::read_write;
  };
  using entries = std::map<std::uint64_t, entry>;  // by address
  struct books {
    entries ranges;
    std::vector<std::weak_ptr<context_object>> contexts;
  };
  /// Knows `other` from now on, of another runtime, and returns what it knew.
  books exchange(books other);

  [[nodiscard]] static reservations& instance();

 private:
  [[nodiscard]] entries::const_iterator around(const void* address) const;
  void open(const entry& which) const;

  mutable std::mutex guard_;
  books books_;
};

}  // namespace troupe::acl
