#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <variant>

#include <gsl/gsl>

#include "core/device_span.hpp"
#include "core/tensors/tensor_layout.hpp"
#include "troupe/buffer.hpp"
#include "troupe/context.hpp"
#include "troupe/pool.hpp"

namespace troupe {

/// A tensor in device memory: a layout and the memory it lies in. A shared handle: copies are one
/// tensor, and its memory goes back with the last (memory of a pool in stream order, see
/// `pool_buffer`). Immutable, so any thread may use it; what it holds is ordered by streams.
class tensor {
public:
  /// The tensor's bytes as the argument of a launch.
  class memory {
  public:
    [[nodiscard]] std::byte* data() const noexcept { return span_.data(); }
    [[nodiscard]] std::size_t size() const noexcept { return span_.size(); }
    [[nodiscard]] std::uint64_t context_id() const noexcept { return span_.context_id(); }
    /// Who keeps the memory; nobody for a view.
    [[nodiscard]] std::weak_ptr<const void> keeper() const noexcept { return owner_; }
    /// See `pool_block::used_on`.
    void used_on(const handles::stream_state* user) const noexcept {
      const auto* pooled = owner_ ? std::get_if<pool_buffer<std::byte>>(owner_.get()) : nullptr;
      if (pooled != nullptr) pooled->used_on(user);
    }

  private:
    friend class tensor;
    using owner = std::variant<buffer<std::byte>, pool_buffer<std::byte>>;
    device_span<std::byte> span_;
    std::shared_ptr<const owner> owner_;
  };

  tensor() noexcept = default;

  /// A tensor in memory of its own. Failures: those of `context::allocate`.
  [[nodiscard]] static result<tensor> make(const context& home, tensor_layout layout) {
    return owned(home.allocate<std::byte>(layout.bytes()), std::move(layout));
  }

  /// A tensor in a pool's memory, for commands of `user`. Failures: those of `pool::allocate`.
  [[nodiscard]] static result<tensor> make(const pool& from, const stream& user,
                                           tensor_layout layout) {
    return owned(from.allocate<std::byte>(user, layout.bytes()), std::move(layout));
  }

  /// A tensor in memory that somebody else keeps. Failure: 107000 when it has too few bytes.
  [[nodiscard]] static result<tensor> view(device_span<std::byte> place, tensor_layout layout) {
    if (place.size() < layout.bytes()) {
      return make_status(code::invalid_parameter,
                         "a tensor " + to_text(layout) + " takes " +
                             std::to_string(layout.bytes()) + " bytes; there are " +
                             std::to_string(place.size()));
    }
    tensor made;
    made.memory_.span_ = place.subspan(0, layout.bytes());
    made.layout_ = std::move(layout);
    return made;
  }

  [[nodiscard]] const tensor_layout& layout() const noexcept { return layout_; }
  [[nodiscard]] bool empty() const noexcept { return memory_.size() == 0; }
  [[nodiscard]] const memory& bytes() const noexcept { return memory_; }

  /// All elements in the order of their addresses, for copies. `T` has the size of one element.
  template <class T>
  [[nodiscard]] device_span<T> elements() const {
    Expects(sizeof(T) == bytes_of_element(layout_.type));
    memory_.used_on(nullptr);
    return {reinterpret_cast<T*>(memory_.data()), memory_.size() / sizeof(T),
            memory_.context_id()};
  }

private:
  template <class Owner>
  static result<tensor> owned(result<Owner> got, tensor_layout&& layout) {
    if (!got) return got.error();
    const device_span<std::byte> all(got.value().data(), got.value().size(),
                                     got.value().context_id());
    auto made = view(all, std::move(layout));
    made.value().memory_.owner_ =
        std::make_shared<const memory::owner>(std::move(got).value());
    return made;
  }

  tensor_layout layout_;
  memory memory_;
};

} // namespace troupe
