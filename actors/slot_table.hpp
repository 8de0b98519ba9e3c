#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "actors/scheduling/clock.hpp"
#include "core/counters.hpp"

namespace troupe {

class engine_port;
class machine;
class stream_record;

/// What a stream knows of its hardware slot.
struct slot_place {
  bool held = false;                 ///< the grant holder's
  std::atomic<bool> awaited = false; ///< stands in line, and its grant with it
  std::atomic<std::uint64_t> waits = 0;
  std::atomic<time_ns> waited_ns = 0;

  // The table's, while the stream stands in line; under its lock.
  engine_port* wanted_at = nullptr;
  std::uint64_t ticket = 0;
  time_ns since = 0;
};

/// The hardware queue slots of a device. A stream is *served* while it holds one: from when its
/// grant is to enter a port until it is put away, as the stream has nothing to run or waits for a
/// ticket. At most as many streams as there are slots are served at a time; surplus ones leave their
/// grant here, in line for a slot.
///
/// Order of the line: the greatest priority first, first come first served within one; every
/// `fairness_interval`th choice takes who waited longest. While there is a line, a stream that comes
/// back to a port (its turn was over, or it needs another kind of engine) competes anew: so none of
/// them keeps a slot for ever.
///
/// Slots that suffice cost one atomic exchange on one word as a stream begins to be served and one
/// as it ends, nothing for a command.
class slot_table {
public:
  static constexpr unsigned priority_count = 8;
  static constexpr unsigned fairness_interval = 16;

  slot_table(const machine& home, unsigned slots);

  // -- the grant's holder ------------------------------------------------------

  /// Passes the grant of `stream` on to `at`, now if it holds a slot or gets one, else later.
  void serve(stream_record& stream, engine_port& at);

  /// Whether `stream` holds a slot or gets one at once.
  [[nodiscard]] bool keep(stream_record& stream) noexcept;

  /// `stream`, whose grant is about to be put away, gives its slot back if it holds one.
  void leave(stream_record& stream);

  // -- any thread ----------------------------------------------------------------

  /// Takes `stream` out of the line; false if it does not stand there any more. The caller then
  /// holds the grant.
  [[nodiscard]] bool remove(stream_record& stream);

  /// Whether a stream of greater priority than `priority`, or any, waits; one relaxed load.
  [[nodiscard]] bool overtaken(unsigned priority) const noexcept {
    return best_waiting_.load(std::memory_order_relaxed) < priority;
  }
  [[nodiscard]] bool has_waiting() const noexcept { return overtaken(priority_count); }

  /// The device ends: who waits goes on to its port, which refuses it, and nobody waits any more.
  void end();

  [[nodiscard]] slot_counters snapshot() const;

private:
  using place_in_line = std::pair<unsigned, std::uint64_t>; // priority and ticket

  [[nodiscard]] bool take() noexcept;
  void compete(stream_record& stream, engine_port& at);
  void put_in_line(stream_record& stream, engine_port& at);
  void take_from_line(stream_record& stream);
  [[nodiscard]] stream_record& choose();
  void hand_out(std::unique_lock<std::mutex>& lock);

  // The number of streams served, and above it that of streams in line, which changes under the lock
  // alone: so while there is a line all of it does.
  static constexpr std::uint64_t one_waiting = std::uint64_t{1} << 32;

  alignas(64) std::atomic<std::uint64_t> state_ = 0;
  std::atomic<std::uint64_t> limit_;
  std::atomic<std::uint64_t> served_high_water_ = 0;
  alignas(64) std::atomic<unsigned> best_waiting_ = priority_count;

  const machine& home_;
  const unsigned slots_;
  mutable std::mutex guard_; // of all below
  std::map<place_in_line, stream_record*> line_;
  std::uint64_t tickets_ = 0;
  std::uint64_t choices_ = 0;
  std::uint64_t waits_ = 0;
  time_ns waited_ns_ = 0;
  time_ns waited_max_ns_ = 0;
};

} // namespace troupe
