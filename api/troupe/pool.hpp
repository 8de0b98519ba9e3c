#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/counters.hpp"
#include "core/device_span.hpp"
#include "core/status.hpp"
#include "troupe/handles.hpp"
#include "troupe/stream.hpp"

namespace troupe {

/// One block of a pool, untyped; `pool_buffer<T>` is the class to use. Goes back to the pool at the
/// point its stream has come to when it is freed.
class pool_block {
public:
  pool_block() noexcept = default;
  pool_block(std::shared_ptr<handles::pool_state> pool, std::shared_ptr<handles::stream_state> user,
             std::byte* data, std::size_t bytes, void* place);
  pool_block(pool_block&& other) noexcept { swap(other); }
  pool_block& operator=(pool_block&& other) noexcept {
    pool_block(std::move(other)).swap(*this);
    return *this;
  }
  ~pool_block() { give_back(); }

  void give_back() noexcept;
  status give_back_at(const stream& where);

  /// Notes that a command of the stream behind `user` uses the block, or that of any, if null.
  void used_on(const handles::stream_state* user) const noexcept {
    if (user == nullptr || user != user_.get()) [[unlikely]] note_use(user);
  }

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t context_id() const noexcept;

private:
  void note_use(const handles::stream_state* user) const noexcept;

  void swap(pool_block& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(user_, other.user_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(place_, other.place_);
  }

  std::shared_ptr<handles::pool_state> pool_;
  std::shared_ptr<handles::stream_state> user_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  void* place_ = nullptr; // where the pool keeps it
};

/// `size()` elements of device memory from a pool, for the commands of one stream. Freed in stream
/// order: the destructor returns at once, and commands submitted before it may still use the block.
/// Other streams of the context may use it too: one that was passed to a command of another stream,
/// or of which a view was taken, is reused only when all that the context's other streams had to do
/// at its end has ended, and if that was not yet so, the runtime's diagnostics name it. What a
/// kernel does by a raw `data()` is not seen.
///
/// A block may have been that of a kernel of the same stream before, which was then aborted and
/// given up on: until that returns, commands and copies that use the block fail with 107022, and
/// another block can be allocated in its place. Moves; one thread at a time.
template <class T>
class pool_buffer {
public:
  using element_type = T;

  pool_buffer() noexcept = default;
  explicit pool_buffer(pool_block block) noexcept : block_(std::move(block)) {}

  [[nodiscard]] T* data() const noexcept { return reinterpret_cast<T*>(block_.data()); }
  [[nodiscard]] std::size_t size() const noexcept { return block_.bytes() / sizeof(T); }
  [[nodiscard]] std::uint64_t context_id() const noexcept { return block_.context_id(); }
  [[nodiscard]] device_span<T> span() const noexcept {
    block_.used_on(nullptr);
    return {data(), size(), context_id()};
  }

  /// Gives the block back at the point that `at`, a stream of the same context, has come to, which is
  /// to come after all uses of it: what other streams have to do by then, and `at` does not wait for,
  /// is named in the runtime's diagnostics and keeps the block from being used again. Failures, with
  /// nothing changed: 107000 for an empty buffer, 107003 for a stream of another context, 107017 for
  /// an empty or destroyed one.
  status free(const stream& at) { return block_.give_back_at(at); }

  /// See `pool_block::used_on`.
  void used_on(const handles::stream_state* user) const noexcept { block_.used_on(user); }

private:
  pool_block block_;
};

/// Takes large blocks from the device and hands out parts of them again and again, in stream order.
/// Of large blocks that are free as a whole it makes parts of other sizes, or gives them back,
/// before it tells that the device has no room. A synchronise of a stream or of the context gives
/// back those that nothing uses by then, beyond the pool's release threshold.
/// A shared handle; the memory goes back to the device when the last handle and the last block are
/// gone. Any thread.
class pool {
public:
  pool() noexcept = default;
  explicit pool(std::shared_ptr<handles::pool_state> state) noexcept : state_(std::move(state)) {}

  /// Memory for `count` elements, to be used by commands that are submitted to `user` from now on.
  /// Contents are not initialised. Failures: 100000 for 0 elements, 107003 for a stream of another
  /// context, 207001 or 207018 when the device or the budget has no room, 507007 when the context
  /// has been destroyed, 107017 for an empty handle or a destroyed pool or stream, 100001 after shutdown.
  template <class T>
  [[nodiscard]] result<pool_buffer<T>> allocate(const stream& user, std::size_t count) const {
    auto got = allocate_bytes(user, count, sizeof(T));
    if (!got) return got.error();
    return pool_buffer<T>(std::move(got).value());
  }

  /// Gives large blocks that nothing uses back to the device, as long as at least `keep_bytes` stay.
  /// Failures: 107000, with nothing changed, if that is less than what is handed out; 107017 for an
  /// empty handle or a destroyed pool, and those of every call on the context.
  status trim(std::uint64_t keep_bytes = 0) const;

  /// Gives all memory back, as the work that uses it ends, and ends the pool for all its handles.
  /// Failures: 107000, with nothing changed, while blocks are handed out; else as `trim`.
  status destroy() const;

  [[nodiscard]] pool_counters counters() const;

  /// The high-water marks begin again at what is reserved and used now.
  void reset_high_water() const;

  [[nodiscard]] const std::shared_ptr<handles::pool_state>& state() const noexcept {
    return state_;
  }

private:
  [[nodiscard]] status check_open(const char* call) const;
  [[nodiscard]] result<pool_block> allocate_bytes(const stream& user, std::size_t count,
                                                  std::size_t element_bytes) const;

  std::shared_ptr<handles::pool_state> state_;
};

} // namespace troupe
