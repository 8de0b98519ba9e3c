#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <gsl/gsl>

#include "core/device_span.hpp"
#include "core/status.hpp"
#include "troupe/handles.hpp"

namespace troupe {

/// One block of device memory, untyped; `buffer<T>` is the class to use. Frees itself.
class device_block {
public:
  device_block() noexcept = default;
  device_block(std::shared_ptr<handles::context_state> owner, std::byte* data, std::size_t bytes);
  device_block(device_block&& other) noexcept { swap(other); }
  device_block& operator=(device_block&& other) noexcept {
    device_block(std::move(other)).swap(*this);
    return *this;
  }
  ~device_block();

  /// See `buffer::free`.
  status free();

  /// Leaves the memory to the caller, by its address; the block is empty then.
  [[nodiscard]] std::byte* release() noexcept;

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t context_id() const noexcept { return context_id_; }

private:
  void swap(device_block& other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(context_id_, other.context_id_);
  }

  std::shared_ptr<handles::context_state> owner_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::uint64_t context_id_ = 0;
};

/// `size()` elements of device memory, owned. Contents are not initialised unless asked for.
///
/// Ending a buffer while accepted work may still use it is safe: the block is kept aside until that
/// work has ended (and the runtime's diagnostics name it). Moves; one thread at a time.
template <class T>
class buffer {
public:
  using element_type = T;

  buffer() noexcept = default;
  explicit buffer(device_block block) noexcept : block_(std::move(block)) {}

  [[nodiscard]] T* data() const noexcept { return reinterpret_cast<T*>(block_.data()); }
  [[nodiscard]] std::size_t size() const noexcept { return block_.bytes() / sizeof(T); }
  [[nodiscard]] std::uint64_t context_id() const noexcept { return block_.context_id(); }
  [[nodiscard]] device_span<T> span() const noexcept { return {data(), size(), context_id()}; }

  /// Gives the memory back now. Fails with 107000 if there is none (freed before, moved away);
  /// memory of a destroyed context is gone already, which is success.
  status free() { return block_.free(); }

private:
  device_block block_;
};

/// One block of pinned host memory, untyped; `host_buffer<T>` is the class to use.
class host_block {
public:
  host_block() noexcept = default;
  host_block(std::shared_ptr<machine> owner, std::byte* data, std::size_t bytes) noexcept
      : owner_(std::move(owner)), data_(data), bytes_(bytes) {}
  host_block(host_block&& other) noexcept
      : owner_(std::move(other.owner_)), data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  host_block& operator=(host_block&& other) noexcept {
    host_block taken(std::move(other));
    std::swap(owner_, taken.owner_);
    std::swap(data_, taken.data_);
    std::swap(bytes_, taken.bytes_);
    return *this;
  }
  ~host_block();

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

private:
  std::shared_ptr<machine> owner_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// `size()` elements of host memory that the devices reach directly (pinned): copies from and to it
/// are asynchronous. The host may dereference it. Owned by the runtime's host memory, freed by the
/// destructor; readable until the last handle is gone. Moves; one thread at a time.
template <class T>
class host_buffer {
public:
  using element_type = T;
  using value_type = T;

  host_buffer() noexcept = default;
  explicit host_buffer(host_block block) noexcept : block_(std::move(block)) {}

  [[nodiscard]] T* data() const noexcept { return reinterpret_cast<T*>(block_.data()); }
  [[nodiscard]] std::size_t size() const noexcept { return block_.bytes() / sizeof(T); }
  [[nodiscard]] T* begin() const noexcept { return data(); }
  [[nodiscard]] T* end() const noexcept { return data() + size(); }
  [[nodiscard]] gsl::span<T> span() const noexcept { return {data(), size()}; }

  /// Element `index`, which must be below `size()`.
  [[nodiscard]] T& operator[](std::size_t index) const {
    Expects(index < size());
    return data()[index];
  }

private:
  host_block block_;
};

} // namespace troupe
