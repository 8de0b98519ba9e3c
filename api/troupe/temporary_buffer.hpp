#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/device_span.hpp"
#include "core/status.hpp"
#include "troupe/handles.hpp"

namespace troupe {

class temporary_record;

/// One temporary block of device memory, untyped; `temporary_buffer<T>` is the class to use.
class temporary_block {
public:
  temporary_block() noexcept = default;
  temporary_block(std::shared_ptr<handles::context_state> owner,
                  std::shared_ptr<temporary_record> record) noexcept;
  temporary_block(temporary_block&&) noexcept = default;
  temporary_block& operator=(temporary_block&& other) noexcept {
    temporary_block taken(std::move(other));
    std::swap(owner_, taken.owner_);
    std::swap(record_, taken.record_);
    return *this;
  }
  ~temporary_block();

  [[nodiscard]] std::byte* data() const noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept;
  [[nodiscard]] std::uint64_t context_id() const noexcept;
  [[nodiscard]] bool released() const noexcept;
  status renew() const;

private:
  std::shared_ptr<handles::context_state> owner_;
  std::shared_ptr<temporary_record> record_;
};

/// `size()` elements of device memory whose contents the program can do without: when the device, or
/// the limit of the context, has no room for another allocation, temporary blocks that no accepted
/// work uses are released, the least recently used first. Blocks of `context::allocate` are never.
///
/// A released block keeps its addresses, which nobody else gets: commands and copies that touch it
/// are refused with 107000 and say so, until `renew` has found memory again. Contents begin as zero.
/// It occupies whole pages of 2 MiB. What a kernel does by a raw `data()` is not seen: declare it.
///
/// Ending it while accepted work uses it is safe. Moves; one thread at a time.
template <class T>
class temporary_buffer {
public:
  using element_type = T;

  temporary_buffer() noexcept = default;
  explicit temporary_buffer(temporary_block block) noexcept : block_(std::move(block)) {}

  [[nodiscard]] T* data() const noexcept { return reinterpret_cast<T*>(block_.data()); }
  [[nodiscard]] std::size_t size() const noexcept { return block_.bytes() / sizeof(T); }
  [[nodiscard]] std::uint64_t context_id() const noexcept { return block_.context_id(); }
  [[nodiscard]] device_span<T> span() const noexcept { return {data(), size(), context_id()}; }

  /// Whether it was released, as of now.
  [[nodiscard]] bool released() const noexcept { return block_.released(); }

  /// Gives a released block memory again, zero at first; one that has some is left as it is. Failures:
  /// 107017 for an empty buffer, those of `context::allocate`.
  status renew() const { return block_.renew(); }

private:
  temporary_block block_;
};

} // namespace troupe
