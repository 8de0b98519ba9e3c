#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace troupe {

/// A view of `size` elements in device memory, with the context that owns them. It owns nothing.
/// The host must not dereference it: contents are reached by copies and kernels.
template <class T>
class device_span {
public:
  using element_type = T;

  constexpr device_span() noexcept = default;
  constexpr device_span(T* data, std::size_t size, std::uint64_t context_id) noexcept
      : data_(data), size_(size), context_id_(context_id) {}

  /// A view for writing is also one for reading.
  template <class U>
    requires(std::is_same_v<const U, T> && !std::is_same_v<U, T>)
  constexpr device_span(device_span<U> other) noexcept
      : device_span(other.data(), other.size(), other.context_id()) {}

  [[nodiscard]] constexpr T* data() const noexcept { return data_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
  [[nodiscard]] constexpr std::uint64_t context_id() const noexcept { return context_id_; }

  /// The part from `offset`, at most `count` elements; cut to what there is.
  [[nodiscard]] constexpr device_span subspan(std::size_t offset,
                                              std::size_t count = SIZE_MAX) const noexcept {
    const auto from = offset < size_ ? offset : size_;
    const auto rest = size_ - from;
    return {data_ + from, count < rest ? count : rest, context_id_};
  }

private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::uint64_t context_id_ = 0;
};

} // namespace troupe
