#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/command.hpp"

namespace troupe {

/// The commands of one stream between submission and execution: the mailbox of a stream that is
/// read without messages. One producer at a time (under the stream's submit lock), one consumer at
/// a time (the holder of the grant).
///
/// Commands are found by their number. Storage is a ring that starts small, is followed by one of
/// twice the size when it is full, and is replaced by a small one once it is empty: a queue costs
/// what it holds, and an idle stream next to nothing.
class command_queue {
public:
  /// Storage that an empty queue keeps, in bytes.
  static constexpr std::size_t storage_kept_bytes = 4 * sizeof(command);

  /// Holds commands from number `first` on.
  explicit command_queue(std::uint64_t first) noexcept
      : first_(first), next_(first), popped_(first - 1) {}

  /// Ends the commands that were never popped.
  ~command_queue();
  command_queue(const command_queue&) = delete;
  command_queue& operator=(const command_queue&) = delete;

  // -- producer ---------------------------------------------------------------

  /// Takes `c` as the next number, which it returns. `completed` is the number up to which the
  /// consumer is done. The command is visible to the consumer once the caller publishes it.
  std::uint64_t push(command&& c, std::uint64_t completed);

  /// Whether a push would need more storage.
  [[nodiscard]] bool full(std::uint64_t completed) const noexcept;

  /// Gives back the storage; no command is queued.
  void clear_storage();

  /// Says that `last` is the last number this queue will hold. False if it was sealed before or
  /// has never held a command.
  bool seal(std::uint64_t last);

  [[nodiscard]] std::uint64_t next_number() const noexcept { return next_; }
  [[nodiscard]] std::uint64_t first_number() const noexcept { return first_; }

  /// The last number it will ever hold; the largest there is while it is in use.
  [[nodiscard]] std::uint64_t last_number() const noexcept {
    return last_.load(std::memory_order_acquire);
  }

  /// Bytes of storage held now.
  [[nodiscard]] std::size_t storage_bytes() const noexcept;

  // -- consumer ---------------------------------------------------------------

  /// The command `number`, which must have been published and not been popped.
  [[nodiscard]] command& at(std::uint64_t number);

  /// Has the command `number`, which must have been published, fetched towards this core.
  void prefetch(std::uint64_t number) const noexcept;

  /// Ends the command `number`.
  void pop(std::uint64_t number) {
    at(number).~command();
    popped_ = number;
  }

private:
  struct ring;

  void grow();
  void free_rings() noexcept;

  static constexpr std::size_t capacity_min = 4;

  // Producer and consumer each have a cache line of their own: they run on different cores.
  const std::uint64_t first_;
  std::uint64_t next_;
  ring* tail_ = nullptr; // the producer's ring
  std::atomic<std::size_t> storage_ = 0;
  alignas(64) std::uint64_t popped_;
  std::atomic<ring*> head_ = nullptr; // the consumer's ring; null before the first push
  std::atomic<std::uint64_t> last_ = UINT64_MAX;
};

} // namespace troupe
