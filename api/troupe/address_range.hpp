#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/address_map.hpp"
#include "core/device_span.hpp"
#include "core/status.hpp"
#include "troupe/context.hpp"
#include "troupe/handles.hpp"

namespace troupe {

class physical_record;

/// Physical memory of a device, without an address until it is mapped into an `address_range`; the
/// same memory may be mapped several times. A shared handle: the memory lives until the last handle
/// and the last mapping are gone. Any thread. Contents are zero at first.
class physical_memory {
public:
  physical_memory() noexcept = default;
  explicit physical_memory(std::shared_ptr<physical_record> record) noexcept
      : record_(std::move(record)) {}

  /// What it holds, rounding included; 0 for an empty handle.
  [[nodiscard]] std::size_t bytes() const noexcept;

  /// For the runtime's own parts.
  [[nodiscard]] const std::shared_ptr<physical_record>& record() const noexcept { return record_; }

private:
  std::shared_ptr<physical_record> record_;
};

/// A range of device addresses that the program maps physical memory into, and opens to the
/// contexts that are to use it; at first none may. The host must not dereference it.
///
/// A command that names a part of the range in a copy, fill or as a kernel's argument is refused
/// with 107000 where some of it is not mapped or not open to its context in that way; one that was
/// accepted and finds it so when its turn comes fails with 107000 as a task. What a command has
/// begun to use stays mapped until it has run, whatever happens to the range meanwhile: mappings and
/// rights change for commands that begin later. An undeclared access is not looked at. The same
/// memory mapped twice is two ranges to whoever looks for unordered accesses.
///
/// A shared handle; with the last one everything is unmapped and the addresses are given back. Any
/// thread. Calls fail with 107017 on an empty handle, 107000 on a range that was released, 100001
/// after shutdown, 207000 inside kernels and callbacks; what fails has changed nothing.
class address_range {
public:
  struct state;

  address_range() noexcept = default;
  explicit address_range(std::shared_ptr<state> made) noexcept : state_(std::move(made)) {}

  [[nodiscard]] void* address() const noexcept;      ///< null for an empty handle
  [[nodiscard]] std::size_t bytes() const noexcept;  ///< rounding included

  /// Maps all of `memory` at `offset` bytes into the range. Failures: 107000 for an offset that is
  /// not a multiple of the granularity, a place that leaves the range or meets another mapping, and
  /// for an empty handle or memory of another device; 207001 when the host refuses the mapping.
  status map(std::size_t offset, const physical_memory& memory) const;

  /// Ends the mapping that begins at `offset`. Failure: 107000 when none does.
  status unmap(std::size_t offset) const;

  /// What `user` may do in all of the range. Failures: those of any use of that context, and 107000
  /// for one of another device.
  status set_access(mapped_access access, const context& user) const;

  /// Gives the addresses back. Failure: 107000 while something is mapped.
  status release() const;

  /// `count` elements at `offset` bytes into the range, as `user` sees them. Failure: 107000 when
  /// they leave the range or are not aligned for a `T`.
  template <class T>
  [[nodiscard]] result<device_span<T>> view(const context& user, std::size_t offset,
                                            std::size_t count) const {
    if (auto s = check_view(offset, count, sizeof(T), alignof(T)); !s.ok()) return s;
    auto* first = reinterpret_cast<T*>(static_cast<std::byte*>(address()) + offset);
    return device_span<T>(first, count, user.id());
  }

private:
  [[nodiscard]] status check(const char* call) const;
  [[nodiscard]] status check_view(std::size_t offset, std::size_t count, std::size_t size,
                                  std::size_t alignment) const;

  std::shared_ptr<state> state_;
};

} // namespace troupe
