#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "core/access.hpp"
#include "core/block.hpp"
#include "core/call_site.hpp"
#include "core/status.hpp"

namespace troupe {

/// What a command asks for, and so which engine of the device executes it.
enum class command_kind : std::uint8_t {
  kernel,   ///< compute engine
  copy_h2d, ///< the three DMA engines: host to device,
  copy_d2h, ///< device to host,
  copy_d2d, ///< within or between devices; also fills
  callback, ///< host callback runner
  record,   ///< nobody: takes a time stamp in stream order
  wait,     ///< nobody: holds the stream back until a ticket is reached
};

[[nodiscard]] constexpr bool is_copy(command_kind kind) noexcept {
  return kind == command_kind::copy_h2d || kind == command_kind::copy_d2h ||
         kind == command_kind::copy_d2d;
}

/// What can be done with the payload of a command. One constant object per payload type.
struct operation {
  /// Runs block `b`. May throw; the engine turns that into the failure of the task.
  status (*invoke)(void* payload, const block& b) = nullptr;
  /// Moves the payload to raw storage and ends the original; null if its bytes can be copied.
  void (*relocate)(void* from, void* to) noexcept = nullptr;
  /// Ends the payload; null if there is nothing to end.
  void (*destroy)(void* payload) noexcept = nullptr;
  /// Names the bytes that the command touches; null if it declares none.
  void (*ranges)(const void* payload, const access_sink& sink) = nullptr;
  /// Size of the payload: what a move has to copy.
  std::size_t bytes = 0;
  /// Operations of a copy of the payload's bytes that uses what the original owns and lives no
  /// longer; null if there can be none.
  const operation* borrowed = nullptr;
};

/// One entry of a stream: a fixed 128 bytes (two cache lines), so that submitting one allocates
/// nothing. Owned by one thread at a time: the submitter, then the stream's queue, then the engine.
///
/// `number` is the sequence number in its stream, given on acceptance and counted from 1; it is
/// what makes a lost or doubled command visible.
class alignas(64) command {
public:
  static constexpr std::size_t payload_bytes_max = 80;

  // -- constructors -----------------------------------------------------------

  command(command_kind what, const char* label, call_site where) noexcept
      : name(label), site_file(where.file), site_line(where.line), kind(what) {}

  command(command&& other) noexcept { take(other); }
  command& operator=(command&&) = delete;
  ~command() {
    if (op != nullptr && op->destroy != nullptr) op->destroy(payload_);
  }

  /// Makes the payload, a `T` with the operations `ops`. Payloads larger than the inline room or
  /// over-aligned ones must be boxed by the caller.
  template <class T, class... Args>
  T& emplace(const operation& ops, Args&&... args) {
    static_assert(sizeof(T) <= payload_bytes_max && alignof(T) <= 16);
    auto* made = ::new (static_cast<void*>(payload_)) T{std::forward<Args>(args)...};
    op = &ops;
    return *made;
  }

  // -- observers --------------------------------------------------------------

  [[nodiscard]] void* payload() noexcept { return payload_; }
  [[nodiscard]] const void* payload() const noexcept { return payload_; }

  /// The payload as the `T` it was made as.
  template <class T>
  [[nodiscard]] T& as() noexcept {
    return *std::launder(reinterpret_cast<T*>(payload_));
  }

  template <class T>
  [[nodiscard]] const T& as() const noexcept {
    return *std::launder(reinterpret_cast<const T*>(payload_));
  }

  [[nodiscard]] call_site site() const noexcept { return {site_file, site_line}; }

  /// Whether the end of the payload runs code of the user's: destructors of what was captured.
  [[nodiscard]] bool ends_user_code() const noexcept {
    return op != nullptr && op->invoke != nullptr && op->destroy != nullptr;
  }

  /// Ends the payload early; the header fields stay readable.
  void reset() noexcept {
    if (op != nullptr && op->destroy != nullptr) op->destroy(payload_);
    op = nullptr;
  }

  // -- header -----------------------------------------------------------------

  std::uint64_t number = 0;
  const operation* op = nullptr;
  const char* name;        ///< lives for ever (a literal or an interned name)
  const char* site_file;
  std::uint32_t site_line;
  std::uint32_t thread = 0; ///< number of the submitting thread
  std::uint32_t blocks = 1;
  command_kind kind;
  bool lost = false; ///< its number arrived without it: a fault of the way to the device

private:
  // The header is plain data; only the payload may need more than its bytes. What lies behind the
  // payload is not touched: a small command moves within one cache line.
  void take(command& other) noexcept {
    std::memcpy(static_cast<void*>(this), static_cast<const void*>(&other), header_bytes);
    if (op == nullptr) return;
    if (op->relocate != nullptr) {
      op->relocate(other.payload_, payload_);
    } else {
      std::memcpy(payload_, other.payload_, op->bytes);
    }
    other.op = nullptr;
  }

  static constexpr std::size_t header_bytes = 48;

  alignas(16) std::byte payload_[payload_bytes_max];
};

static_assert(sizeof(command) == 128 && command::payload_bytes_max + 48 == sizeof(command));

/// The operations of a payload type that is only carried, never run (waits, records, copies).
template <class T>
struct carried {
  static void relocate(void* from, void* to) noexcept {
    auto* source = static_cast<T*>(from);
    ::new (to) T(std::move(*source));
    source->~T();
  }
  static void destroy(void* payload) noexcept { static_cast<T*>(payload)->~T(); }

  static constexpr operation make() {
    operation made;
    made.bytes = sizeof(T);
    if constexpr (!std::is_trivially_copyable_v<T>) made.relocate = &relocate;
    if constexpr (!std::is_trivially_destructible_v<T>) made.destroy = &destroy;
    return made;
  }
  static constexpr operation ops = make();
};

/// The operations of a payload type that can be run: it has `invoke` and `ranges`.
template <class T>
[[nodiscard]] constexpr operation make_runnable() {
  auto made = carried<T>::make();
  made.invoke = &T::invoke;
  made.ranges = &T::ranges;
  return made;
}

} // namespace troupe
