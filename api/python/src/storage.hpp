#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "api/python/src/place.hpp"
#include "troupe/buffer.hpp"
#include "troupe/event.hpp"
#include "troupe/pool.hpp"

namespace troupe::python {

/// What one stream did last with some memory.
struct use_mark {
  std::uint64_t stream = 0;
  event after;        ///< recorded behind that
  bool wrote = false; ///< since the last write by another stream
};

/// One block of device memory, with what the streams of calls that name none did to it. Whatever
/// can reach the bytes shares it: arrays, views given to kernels, exported buffers; the last one
/// frees it.
class storage {
public:
  storage(std::shared_ptr<place> home, buffer<std::byte> own)
      : home_(std::move(home)), memory_(std::move(own)) {}
  storage(std::shared_ptr<place> home, pool_buffer<std::byte> pooled)
      : home_(std::move(home)), memory_(std::move(pooled)) {}
  ~storage() { let_go(memory_); }
  storage(const storage&) = delete;
  storage& operator=(const storage&) = delete;

  [[nodiscard]] std::byte* data() const noexcept {
    return std::visit([](const auto& m) { return m.data(); }, memory_);
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return std::visit([](const auto& m) { return m.size(); }, memory_);
  }
  [[nodiscard]] const std::shared_ptr<place>& home() const noexcept { return home_; }

  /// Tells a pool that a command of `user` is about to use the block.
  void used_on(const stream& user) const noexcept {
    const auto* pooled = std::get_if<pool_buffer<std::byte>>(&memory_);
    if (pooled != nullptr) pooled->used_on(user.state().get());
  }

  /// Tells a pool that commands of streams nobody can name use the block.
  void used_anywhere() const noexcept {
    const auto* pooled = std::get_if<pool_buffer<std::byte>>(&memory_);
    if (pooled != nullptr) pooled->used_on(nullptr);
  }

  [[nodiscard]] std::vector<use_mark>& marks() noexcept { return marks_; }

private:
  std::shared_ptr<place> home_;
  std::variant<buffer<std::byte>, pool_buffer<std::byte>> memory_;
  std::vector<use_mark> marks_; // by the GIL
};

} // namespace troupe::python
