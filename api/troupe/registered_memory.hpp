#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/device_span.hpp"
#include "core/status.hpp"
#include "troupe/handles.hpp"

namespace troupe {

class context;

/// Host memory of the program's own that the devices of a runtime reach directly, as they do pinned
/// memory: copies that lie in it are asynchronous and read or write it when they are executed, and
/// kernels may work on it in place.
///
/// The program keeps the memory and lives by these rules: it stays as it is until this handle has
/// ended; nobody on the host writes, or reads what is written, while accepted work uses it; and the
/// same bytes are registered once. The destructor waits for the work that uses the memory, but
/// not for what was given up on; inside kernels and callbacks, where nobody may wait, the program sees
/// to it that there is none. Moves; one thread at a time.
class registered_memory {
public:
  registered_memory() noexcept = default;
  registered_memory(std::shared_ptr<machine> owner, std::byte* data, std::size_t bytes) noexcept
      : owner_(std::move(owner)), data_(data), bytes_(bytes) {}
  registered_memory(registered_memory&& other) noexcept { swap(other); }
  registered_memory& operator=(registered_memory&& other) noexcept {
    registered_memory(std::move(other)).swap(*this);
    return *this;
  }
  ~registered_memory();

  /// Ends the registration; for commands that come later it is ordinary memory. Failures, with nothing
  /// changed: 107000 while accepted work uses it, which is named, or if it has ended before.
  status release();

  [[nodiscard]] void* address() const noexcept { return data_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  /// `count` elements at `offset` bytes, as kernels of `user` are given them: the same memory, without
  /// a copy. For copies it is host memory all the same. Failures: 107000 when they leave the memory or
  /// are not aligned for a `T`; 107017 for an empty handle.
  template <class T>
  [[nodiscard]] result<device_span<T>> view(const context& user, std::size_t offset,
                                            std::size_t count) const {
    if (auto s = check_view(offset, count, sizeof(T), alignof(T)); !s.ok()) return s;
    return device_span<T>(reinterpret_cast<T*>(data_ + offset), count, id_of(user));
  }

private:
  [[nodiscard]] status check_view(std::size_t offset, std::size_t count, std::size_t size,
                                  std::size_t alignment) const;
  [[nodiscard]] static std::uint64_t id_of(const context& user) noexcept;
  void swap(registered_memory& other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

  std::shared_ptr<machine> owner_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

} // namespace troupe
