#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "actors/mapped_uses.hpp"
#include "actors/user_scope.hpp"
#include "core/command.hpp"

namespace troupe {

/// The commands of one stream between submission and execution: the mailbox of a stream that is
/// read without messages. One producer at a time (under the stream's submit lock), one consumer at
/// a time (the holder of the grant).
///
/// Commands are found by their number. Storage is a small ring inside the queue, followed by one of
/// twice the size on the heap when it is full, and so on; once all is empty the small one is used
/// again. A queue costs what it holds, and the first commands of an idle stream cost no detour.
class command_queue {
public:
  /// Storage that an empty queue keeps, in bytes.
  static constexpr std::size_t storage_kept_bytes = 4 * sizeof(command);

  /// Holds commands of `stream` from number `first` on.
  explicit command_queue(std::uint64_t first, std::uint64_t stream = 0) noexcept;

  /// As `end_rest`.
  ~command_queue();
  command_queue(const command_queue&) = delete;
  command_queue& operator=(const command_queue&) = delete;

  // -- producer ---------------------------------------------------------------

  /// Takes `c` as the next number, which it returns. `completed` is the number up to which the
  /// consumer is done. The command is visible to the consumer once the caller publishes it.
  std::uint64_t push(command&& c, std::uint64_t completed);

  /// Whether a push would need more storage.
  [[nodiscard]] bool full(std::uint64_t completed) const noexcept;

  /// Gives back the storage on the heap; no command is queued.
  void clear_storage();

  /// Says that `last` is the last number this queue will hold. False if it was sealed before or
  /// has never held a command.
  bool seal(std::uint64_t last);

  [[nodiscard]] std::uint64_t next_number() const noexcept { return next_; }
  [[nodiscard]] std::uint64_t first_number() const noexcept { return first_; }

  /// Has what the next push touches fetched towards this core, as long as the queue is small: the
  /// producer's part (any thread), and the place of the command.
  void prefetch_producer() const noexcept {
    __builtin_prefetch(&next_, 1);
    __builtin_prefetch(&small_);
  }
  void prefetch_place() const noexcept {
    __builtin_prefetch(room_ + (next_ & (capacity_min - 1)) * sizeof(command), 1);
  }

  /// The last number it will ever hold; the largest there is while it is in use.
  [[nodiscard]] std::uint64_t last_number() const noexcept {
    return last_.load(std::memory_order_acquire);
  }

  /// Bytes of storage held now, the small ring included.
  [[nodiscard]] std::size_t storage_bytes() const noexcept;

  // -- consumer ---------------------------------------------------------------

  /// The command `number`, which must have been published and not been popped.
  [[nodiscard]] command& at(std::uint64_t number);

  /// Has what the next pop touches fetched towards this core: first where the command is, in time
  /// for a later call the command itself, as long as the queue is small.
  void prefetch_pop() const noexcept {
    __builtin_prefetch(&popped_, 1);
    __builtin_prefetch(&small_);
  }
  void prefetch_command() const noexcept {
    __builtin_prefetch(room_ + ((popped_ + 1) & (capacity_min - 1)) * sizeof(command), 1);
  }

  /// Has the command `number`, which must have been published, fetched towards this core.
  void prefetch(std::uint64_t number) const noexcept;

  /// Ends the commands that were never popped; none will be pushed any more.
  void end_rest();

  /// The same for whoever reads while the consumer stands still: nothing moves on.
  [[nodiscard]] const command& look_at(std::uint64_t number) const;

  /// Keeps what the command that is to be popped next uses until then: work that is under way keeps
  /// it, whoever takes it up again and whether or not its engine was given up on.
  void keep(std::unique_ptr<mapped_uses> uses) noexcept { kept_ = std::move(uses); }
  [[nodiscard]] bool keeps_uses() const noexcept { return kept_ != nullptr; }

  /// Ends the command `number`.
  void pop(std::uint64_t number) {
    auto& c = at(number);
    if (c.ends_user_code()) user_scope::end_payload(c, stream_);
    c.~command();
    if (kept_) [[unlikely]] kept_.reset();
    popped_ = number;
  }

private:
  struct ring {
    ring(std::size_t size, std::uint64_t from, command* where) noexcept
        : mask(size - 1), first(from), slots(where) {}

    [[nodiscard]] std::size_t capacity() const noexcept { return mask + 1; }
    [[nodiscard]] command* slot(std::uint64_t number) const noexcept {
      return slots + (number & mask);
    }

    std::size_t mask;
    std::uint64_t first;
    command* slots;
    // Number of the last command in this ring, set when the next ring is opened. Whoever handles a
    // later number has seen it, as it was written before that number was published.
    std::atomic<std::uint64_t> last = UINT64_MAX;
    std::atomic<ring*> next = nullptr;
  };

  void grow();
  void free_ring(ring* each) noexcept;
  void free_rings() noexcept;

  static constexpr std::size_t capacity_min = storage_kept_bytes / sizeof(command);

  // Producer and consumer each have a cache line of their own: they run on different cores.
  alignas(64) const std::uint64_t first_;
  std::uint64_t next_;
  ring* tail_; // the producer's ring
  alignas(64) std::uint64_t popped_;
  std::atomic<ring*> head_; // the consumer's ring
  std::unique_ptr<mapped_uses> kept_;
  std::atomic<std::uint64_t> last_ = UINT64_MAX;
  alignas(64) ring small_; // seldom written, read by both
  std::atomic<std::size_t> storage_ = storage_kept_bytes;
  const std::uint64_t stream_;
  alignas(64) std::byte room_[storage_kept_bytes];
};

} // namespace troupe
