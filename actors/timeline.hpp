#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/status.hpp"

namespace troupe {

class fault_gate;

/// What has become of the work up to a number on a timeline.
enum class ticket_state : unsigned char {
  pending, ///< not there yet
  reached, ///< everything up to the number has run, its effects are visible
  dropped, ///< an abort or a forced destroy dropped it; it will never be reached
};

/// Told once when a number is reached or, for host waits, dropped.
class ticket_listener {
public:
  virtual ~ticket_listener() = default;

  /// On the thread that completed the number; short, takes no lock of a timeline.
  virtual void on_ticket(ticket_state state) noexcept = 0;
};

/// Who listens: a host thread is told when its ticket was dropped; a device-side wait on a dropped
/// ticket stalls (its stream's report names the cause) until it is aborted itself. Only where a
/// failure in stop mode dropped it is the device-side wait told as well, and fails.
enum class listener_kind : unsigned char { host, device };

/// Whose progress a timeline publishes: how reports call it.
enum class timeline_of : unsigned char { stream, signal };

/// The published progress of one stream, or of a signal: a small shared record that anyone may read
/// without a message, and that outlives its stream, so that tickets stay true for ever.
///
///        dropped?      completed            aborted        submitted
///     ----xxxx-------------|####################|--------------->
///      ended, in order      told to stop          waiting to run
///
/// Visibility: whoever sees `completed() >= n` sees all effects of the commands up to n.
class timeline : public std::enable_shared_from_this<timeline> {
public:
  /// With `gate` the notices of this timeline may be late, lost or doubled.
  explicit timeline(std::uint64_t id, timeline_of what = timeline_of::stream,
                    fault_gate* gate = nullptr) noexcept
      : id_(id), gate_(gate), what_(what) {}

  // -- observers, any thread --------------------------------------------------

  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }

  [[nodiscard]] timeline_of what() const noexcept { return what_; }

  /// "stream 3" or "signal 7".
  [[nodiscard]] std::string name() const;

  /// Number of the last command accepted.
  [[nodiscard]] std::uint64_t submitted() const noexcept {
    return submitted_.load(std::memory_order_seq_cst);
  }

  /// Every command up to this number has ended: ran, failed or was dropped.
  [[nodiscard]] std::uint64_t completed() const noexcept {
    return completed_.load(std::memory_order_acquire);
  }

  /// Whether everything up to `number` has ended and touches nothing any more: unlike `completed`
  /// it counts the execution that was given up on and still goes on.
  [[nodiscard]] bool over(std::uint64_t number) const noexcept {
    return completed() >= number && number < first_stray_.load(std::memory_order_acquire);
  }

  /// Whether an execution that was given up on still goes on.
  [[nodiscard]] bool has_stray() const noexcept {
    return first_stray_.load(std::memory_order_acquire) != nobody;
  }

  /// The same of the commands after `before` and up to `last`.
  [[nodiscard]] bool has_stray(std::uint64_t before, std::uint64_t last) const;

  /// Commands up to this number were told to stop.
  [[nodiscard]] std::uint64_t aborted() const noexcept {
    return aborted_.load(std::memory_order_seq_cst);
  }
  [[nodiscard]] const std::atomic<std::uint64_t>& abort_mark() const noexcept { return aborted_; }

  /// How often the timeline was aborted; a waiter that sees it change was interrupted.
  [[nodiscard]] std::uint64_t abort_count() const noexcept {
    return abort_count_.load(std::memory_order_acquire);
  }

  [[nodiscard]] bool idle() const noexcept { return completed() >= submitted(); }

  [[nodiscard]] ticket_state state_of(std::uint64_t number) const;

  /// The failure that ended the work of this timeline in stop mode; success if none has.
  [[nodiscard]] status break_cause() const {
    return broken_.load(std::memory_order_acquire) ? cause_of_break() : status{};
  }

  /// How many commands were dropped so far.
  [[nodiscard]] std::uint64_t dropped_count() const;

  // -- waiting threads --------------------------------------------------------

  /// Scope in which somebody polls for progress: engines then look for new commands without pause.
  class impatience {
  public:
    explicit impatience(timeline& line) noexcept : line_(line) {
      line_.waiting_.fetch_add(1, std::memory_order_relaxed);
    }
    ~impatience() { line_.waiting_.fetch_sub(1, std::memory_order_relaxed); }
    impatience(const impatience&) = delete;
    impatience& operator=(const impatience&) = delete;

  private:
    timeline& line_;
  };
  [[nodiscard]] bool awaited() const noexcept {
    return waiting_.load(std::memory_order_relaxed) != 0;
  }

  // -- the submitter's side (under the stream's submit lock) -------------------

  /// Publishes the command `number`, the one after the last, to the engines.
  void accept(std::uint64_t number) noexcept {
    submitted_.store(number, std::memory_order_seq_cst);
  }

  /// Has what `accept` and `complete` write fetched towards this core.
  void prefetch() const noexcept {
    __builtin_prefetch(&submitted_, 1);
    __builtin_prefetch(&completed_, 1);
  }

  // -- the executor's side (whoever holds the stream's grant) ------------------

  /// Ends command `number`. False when the number is not the next one, because the grant was
  /// revoked meanwhile: the caller then lets go of everything and touches the stream no more.
  [[nodiscard]] bool complete(std::uint64_t number) {
    auto before = number - 1;
    if (!completed_.compare_exchange_strong(before, number, std::memory_order_seq_cst)) {
      return false;
    }
    if (watch_.load(std::memory_order_seq_cst) <= number) tell(number);
    return true;
  }

  /// Notes that command `number` was dropped; followed by `complete`.
  void note_dropped(std::uint64_t first, std::uint64_t last);

  // -- where faults may strike ------------------------------------------------

  /// A fault of the plan's `entry` holds up the command that is next to end.
  void note_struck(std::string entry);

  /// The entry that did, as long as that command has not ended; empty: none.
  [[nodiscard]] std::string struck_by() const;

  // -- control ----------------------------------------------------------------

  /// Tells everything accepted so far to stop and lets the host threads that wait for it go.
  void abort();

  /// The work was ended by `cause` for good: device-side waits for what is dropped fail. Once.
  void break_off(const status& cause);

  /// There is work again: what is dropped from now on has no such cause.
  void mend();

  /// Ends all numbers up to the abort mark in place of the executor of `running`, which does not
  /// return and whose own `complete` will fail from now on; until `stray_returned` they are
  /// not `over`. False if that executor has ended its command itself. To be followed by
  /// `tell_aborted`, without locks.
  [[nodiscard]] bool complete_aborted(std::uint64_t running);
  void tell_aborted() { tell(completed()); }
  void stray_returned(std::uint64_t running);

  /// Asks to be told about `number`. False if it has ended already and nothing is kept; but a
  /// device-side wait for a number that was dropped is kept: it stalls until it is taken back.
  [[nodiscard]] bool subscribe(std::uint64_t number, std::shared_ptr<ticket_listener> listener,
                               listener_kind kind);

  /// Tells those whose notice was late or lost: true if there was anybody. For timelines with a
  /// gate.
  bool tell_again();

  /// Takes back all subscriptions of `listener`; a call under way may still arrive.
  void unsubscribe(const ticket_listener* listener);

private:
  struct subscription {
    std::uint64_t number;
    std::shared_ptr<ticket_listener> listener;
    listener_kind kind;
    bool kept_back = false; // its notice is late or lost, which is decided once
  };
  struct range {
    std::uint64_t first;
    std::uint64_t last;
  };

  void tell(std::uint64_t number) { tell(number, false); }
  /// `again`: also those whose notice was kept back.
  void tell(std::uint64_t number, bool again);
  [[nodiscard]] unsigned notices_now(); // how often to tell one listener; 0: not now
  [[nodiscard]] bool was_dropped(std::uint64_t number) const;
  [[nodiscard]] bool is_dropped(std::uint64_t number) const; // under the lock
  [[nodiscard]] bool stalls(const subscription& each) const;  // under the lock
  [[nodiscard]] status cause_of_break() const;
  void update_strays();
  void update_watch();

  static constexpr std::uint64_t nobody = UINT64_MAX;

  const std::uint64_t id_;
  fault_gate* const gate_;
  const timeline_of what_;
  alignas(64) std::atomic<std::uint64_t> submitted_ = 0;
  std::atomic<std::uint32_t> waiting_ = 0; // beside what engines look at anyway
  alignas(64) std::atomic<std::uint64_t> completed_ = 0;
  std::atomic<std::uint64_t> watch_ = nobody; // lowest number that somebody waits for
  std::atomic<std::uint64_t> aborted_ = 0;
  std::atomic<std::uint64_t> abort_count_ = 0;
  std::atomic<std::uint64_t> dropped_last_ = 0; // highest dropped number, 0 if none
  std::atomic<std::uint64_t> first_stray_ = nobody;
  std::atomic<bool> broken_ = false;
  mutable std::mutex guard_;
  status cause_;
  std::vector<subscription> subscriptions_;
  // Ascending, disjoint, and all that ever were, 16 bytes for each abort that dropped something:
  // a ticket may be held for ever and keeps its meaning.
  std::vector<range> dropped_;
  std::uint64_t dropped_count_ = 0;
  std::vector<std::uint64_t> strays_; // numbers whose execution was given up on and goes on
  std::uint64_t notices_ = 0;         // that a fault may befall
  std::uint64_t struck_ = 0;          // the command that one has befallen last; 0: none
  std::string struck_by_;
};

} // namespace troupe
