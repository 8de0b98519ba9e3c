#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <caf/actor.hpp>

#include "actors/scheduling/clock.hpp"
#include "actors/slot_table.hpp"
#include "core/counters.hpp"

namespace troupe {

class block_job;
class fault_gate;
class stream_record;

/// How busy one engine is. Written by the engine alone, read by anyone.
class engine_load {
public:
  void count(std::uint64_t commands, std::uint64_t bytes) noexcept {
    add(commands_, commands);
    add(bytes_, bytes);
  }

  /// When the work that the engine is engaged with should have ended; 0 for no such work.
  void expect_end(time_ns due) noexcept { due_.store(due, std::memory_order_relaxed); }
  [[nodiscard]] bool overdue(time_ns now) const noexcept {
    const auto due = due_.load(std::memory_order_relaxed);
    return due != 0 && due <= now;
  }

  void begin(time_ns now) noexcept { running_since_.store(now, std::memory_order_relaxed); }
  void end(time_ns now) noexcept {
    const auto since = running_since_.exchange(0, std::memory_order_relaxed);
    busy_ns_.store(busy_ns_.load(std::memory_order_relaxed) + now - since,
                   std::memory_order_relaxed);
  }

  /// Adds this engine to the figures of its kind.
  void add_to(engine_counters& sum, time_ns now) const noexcept;

private:
  // One writer: no locked instruction is needed.
  static void add(std::atomic<std::uint64_t>& sum, std::uint64_t more) noexcept {
    sum.store(sum.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }

  alignas(64) std::atomic<time_ns> running_since_ = 0; // 0 while idle
  std::atomic<time_ns> busy_ns_ = 0;
  std::atomic<time_ns> due_ = 0;
  std::atomic<std::uint64_t> commands_ = 0;
  std::atomic<std::uint64_t> bytes_ = 0;
};

/// The engines of one kind on a device (its compute engine, its three DMA engines, its callback
/// runner). Which commands of a stream an engine of a kind executes is told by `executes`.
enum class engine_kind : unsigned char { compute, dma_h2d, dma_d2h, dma_d2d, callback };
inline constexpr std::size_t engine_kind_count = 5;

[[nodiscard]] const char* to_string(engine_kind kind) noexcept;

/// Where streams queue for the engines of one kind. It is the engines' second mailbox: a stream
/// that has work puts itself in here (with its grant, the right to be executed), and an engine that
/// sleeps gets a doorbell message. So a busy engine takes stream after stream without a message.
///
/// Order: the greatest priority first (0), first come first served within one. Every
/// `fairness_interval`th choice takes the stream that waited longest instead, so that no priority
/// starves for ever.
///
/// An engine is one core's worth of execution: engines of a port run streams in parallel and also
/// take blocks of a launch that another engine splits.
class engine_port {
public:
  static constexpr unsigned priority_count = 8;
  static constexpr unsigned fairness_interval = 16;

  /// How the port gets another engine, up to `engines_max`, when there is work for one.
  using engine_maker = std::function<caf::actor(engine_port& port, engine_load& load)>;

  /// Streams come here with one of `slots`. With `gate` the hand-over of a stream may be late, lost
  /// or doubled.
  engine_port(engine_kind kind, std::size_t engines_max, engine_maker make,
              const slot_table& slots, fault_gate* gate = nullptr);
  ~engine_port();

  // -- senders, any thread ----------------------------------------------------

  /// Takes the grant of `stream` and sees to it that an engine serves it.
  void push(stream_record& stream);

  /// Offers the blocks of a launch to engines with nothing better to do.
  void offer(const std::shared_ptr<block_job>& job);

  /// Takes back an offer that nobody need take any more.
  void withdraw(const block_job* job);

  /// Takes `stream` out again; false if an engine has it already. The caller then holds the grant.
  [[nodiscard]] bool remove(stream_record& stream);

  // -- engines ----------------------------------------------------------------

  struct work {
    std::shared_ptr<stream_record> stream; ///< with its grant
    std::shared_ptr<block_job> job;

    explicit operator bool() const noexcept { return stream != nullptr || job != nullptr; }
  };

  /// What waits, or nothing. Never waits itself.
  [[nodiscard]] work next();

  /// As `next`, but stays awake for a while if nothing is there: `linger` is asked between looks
  /// whether that is worth it; at most one engine of a port lingers at a time. When it comes back
  /// empty the engine counts as idle and will be rung for a later push; or, if there are more
  /// engines than there may be, it is put aside and will be rung when one is to be replaced.
  [[nodiscard]] work next_or_idle(const caf::actor& engine, const std::function<bool()>& linger);

  /// An engine has ended; it is rung no more. With `replace` another may be made in its place.
  void engine_ended(const caf::actor& engine, bool replace);

  /// Whether a stream of greater priority than `priority` waits, here or for a slot; two relaxed
  /// loads.
  [[nodiscard]] bool overtaken(unsigned priority) const noexcept {
    return best_waiting_.load(std::memory_order_relaxed) < priority || slots_.overtaken(priority);
  }
  [[nodiscard]] bool others_wait() const noexcept {
    return has_waiting() || slots_.has_waiting();
  }
  [[nodiscard]] bool has_waiting() const noexcept {
    return inbox_.load(std::memory_order_relaxed) != nullptr ||
           waiting_.load(std::memory_order_relaxed) != 0;
  }
  [[nodiscard]] bool has_jobs() const noexcept {
    return job_count_.load(std::memory_order_relaxed) != 0;
  }

  /// Puts a stream whose hand-over was lost in line after all; false if it was not. And rings again
  /// the engines that have work to do and do not do it. For ports with a gate.
  bool recover(stream_record& stream);
  bool ring_again(time_ns now);

  /// Allows one more engine in place of one that is stuck in user code, until that returns: then
  /// the next engine that looks for work is one too many.
  void replace_engine();
  void engine_returned();

  /// Engines that are stuck in user code and were replaced.
  [[nodiscard]] std::size_t stuck() const noexcept {
    const auto seen = stuck_.load(std::memory_order_relaxed);
    return seen > 0 ? static_cast<std::size_t>(seen) : 0;
  }

  /// Tells the engines to end and lets go of what waits; nothing is taken any more.
  void end_engines();

  // -- observers --------------------------------------------------------------

  [[nodiscard]] engine_kind kind() const noexcept { return kind_; }
  [[nodiscard]] engine_counters snapshot(time_ns now) const;

  /// Counts work that a client thread did in an engine's place: a blocking copy.
  void count_elsewhere(std::uint64_t commands, std::uint64_t bytes) noexcept {
    commands_elsewhere_.fetch_add(commands, std::memory_order_relaxed);
    bytes_elsewhere_.fetch_add(bytes, std::memory_order_relaxed);
  }

private:
  struct queue_end {
    stream_record* first = nullptr;
    stream_record* last = nullptr;
  };
  struct engine_slot {
    caf::actor handle;
    engine_load load;
  };

  [[nodiscard]] std::unique_lock<std::mutex> lock_as_engine();
  void sort_in();
  void note_priority(unsigned priority) noexcept;
  void recount_sleepers() noexcept;
  void push_gated(stream_record& stream);
  void arrive(stream_record& stream, std::uint64_t handoff);
  void bring_overtaken(const stream_record& by);
  void put_in_line(stream_record& stream);
  void wake_one(std::unique_lock<std::mutex>& lock);
  caf::actor make_engine();
  // Under the lock. Engines that are not put aside; and whether that is more than there may be.
  [[nodiscard]] std::size_t engines_in_use() const noexcept {
    return engines_.size() - spare_.size();
  }
  [[nodiscard]] bool has_too_many() const noexcept { return engines_in_use() > engines_max_; }
  bool put_aside(const caf::actor& engine);
  work take_and_wake(std::unique_lock<std::mutex>& lock);
  void unlink(stream_record& stream);
  stream_record* choose();
  void refresh_best();
  work take();
  using dropped_streams = std::vector<std::shared_ptr<stream_record>>;
  [[nodiscard]] dropped_streams drop_all();
  static void end_work_of(const dropped_streams& all);
  void refuse_all(std::unique_lock<std::mutex>& lock);
  void allow_one_more(std::unique_lock<std::mutex>& lock);

  // Pushers touch this line and take no lock: streams not sorted in yet, the newest first.
  alignas(64) std::atomic<stream_record*> inbox_ = nullptr;
  std::atomic<bool> lingering_ = false; // an engine looks at the inbox all the time
  std::atomic<bool> closed_ = false;
  std::atomic<unsigned> best_waiting_ = priority_count;

  alignas(64) const engine_kind kind_;
  const slot_table& slots_;
  fault_gate* const gate_;
  engine_maker make_;
  mutable std::mutex guard_;
  std::array<queue_end, priority_count> queues_;
  std::deque<std::shared_ptr<block_job>> jobs_;
  std::deque<engine_slot> engines_; // a deque, as engines keep references to their load
  std::vector<caf::actor> idle_;
  // Made in place of stuck ones that have come back: put aside until others are to be replaced.
  std::vector<caf::actor> spare_;
  std::size_t engines_max_;
  std::uint64_t pushes_ = 0;
  std::uint64_t choices_ = 0;
  std::atomic<std::size_t> waiting_ = 0;
  std::atomic<std::size_t> job_count_ = 0;
  std::atomic<std::ptrdiff_t> stuck_ = 0; // signed: one may return before it is replaced
  // An engine has been rung and has not come for work yet. Further pushes ring nobody: it rings
  // the next one itself if it leaves work behind.
  std::atomic<bool> ringing_ = false;
  // Engines that sleep or could still be made: while there are none, pushers need not look.
  std::atomic<std::size_t> sleepers_ = 0;
  // A hand-over that waits for another stream's to come first.
  std::weak_ptr<stream_record> overtaken_;
  std::uint64_t overtaken_handoff_ = 0;
  caf::actor rung_; // by whom the ring was to be answered; only where it may be lost
  std::atomic<std::uint64_t> commands_elsewhere_ = 0;
  std::atomic<std::uint64_t> bytes_elsewhere_ = 0;
};

} // namespace troupe
