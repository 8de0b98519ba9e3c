#pragma once

#include <atomic>
#include <cstdint>

#include "core/status.hpp"

namespace troupe {

class command;

/// Marks the calling thread as being inside user code that a device runs, for as long as it lives.
/// Runtime calls that allocate, submit or wait are refused there: a callback that waited for its
/// own stream would wait for ever.
class user_scope {
public:
  enum class what : unsigned char { kernel, callback };

  struct description {
    what kind;
    const char* name;
    std::uint64_t stream;
  };

  explicit user_scope(const description& here) noexcept : outer_(current), here_(here) {
    current = &here_;
    tell(true);
  }
  ~user_scope() {
    current = outer_;
    tell(outer_ != nullptr);
  }
  user_scope(const user_scope&) = delete;
  user_scope& operator=(const user_scope&) = delete;

  /// Success outside user code; inside it 207000, naming the callback or kernel and its stream.
  [[nodiscard]] static status refuse_inside(const char* call) {
    return current == nullptr ? status{} : refusal(call);
  }

  /// What the calling thread is inside of; null outside. Good until that scope ends.
  [[nodiscard]] static const description* here() noexcept { return current; }

  /// From now on `flag`, which outlives the calling thread, tells whether that is inside user code.
  static void tell_through(std::atomic<bool>* flag) noexcept { told_through = flag; }

  /// Ends the payload of `c`, a command of `stream`, inside a scope: destructors of what a closure
  /// captured are user code too, whoever runs them.
  static void end_payload(command& c, std::uint64_t stream) noexcept;

private:
  static status refusal(const char* call);
  static void tell(bool inside) noexcept {
    if (told_through != nullptr) told_through->store(inside, std::memory_order_release);
  }

  static constinit thread_local std::atomic<bool>* told_through;
  static constinit thread_local const description* current;

  const description* const outer_;
  const description here_;
};

} // namespace troupe
