#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <caf/actor.hpp>

#include "actors/command_queue.hpp"
#include "actors/engine_port.hpp"
#include "actors/faults/channel_count.hpp"
#include "actors/scheduling/coordinator.hpp"
#include "actors/slot_table.hpp"
#include "actors/ticket.hpp"
#include "actors/timeline.hpp"
#include "core/command.hpp"
#include "core/counters.hpp"
#include "core/status.hpp"

namespace troupe {

class block_job;
class context_record;
class machine;
struct event_stamp;

/// Who has the right to execute a stream's commands.
///
///            submit                    wait on a ticket
///     parked -------> granted ----------------------------> blocked
///        ^              |  ^                                   |
///        +--------------+  +-----------------------------------+
///          queue empty        ticket reached, expiry, abort
///
/// Each arrow is one compare-and-swap, so exactly one party gets the grant. Its holder (a client
/// that just submitted, an engine, the stream actor) either executes or passes it on.
enum class grant_state : std::uint32_t { parked, granted, blocked };

/// What everyone shares of one stream: its place in the world, its queue, its grant, its failures.
/// The stream actor owns the control side; see `stream_actor.hpp`.
class stream_record final : public ticket_listener,
                            public std::enable_shared_from_this<stream_record> {
public:
  struct identity {
    std::uint64_t id = 0;
    unsigned priority = 0;
    unsigned queue_depth = 0;
  };

  stream_record(machine& home, std::shared_ptr<context_record> context, const identity& who);
  ~stream_record() override;

  // -- observers, any thread --------------------------------------------------

  [[nodiscard]] std::uint64_t id() const noexcept { return who_.id; }
  [[nodiscard]] unsigned priority() const noexcept { return who_.priority; }
  [[nodiscard]] unsigned queue_depth() const noexcept { return who_.queue_depth; }
  [[nodiscard]] machine& home() const noexcept { return home_; }
  [[nodiscard]] context_record& context() const noexcept { return *context_; }
  [[nodiscard]] const std::shared_ptr<timeline>& line() const noexcept { return line_; }
  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }
  [[nodiscard]] stream_counters counters() const;

  /// Whether the stream takes commands: 100001 when the runtime has ended, 107017 when closed, the
  /// context's trouble, or success.
  [[nodiscard]] status check_open() const;

  /// Of a closed stream: 507007 if its context has ended, whichever of the two was seen first, else
  /// 107017.
  [[nodiscard]] status why_closed() const;

  /// As `check_open`, and whether anybody will execute a command of `kind`; see
  /// `machine::check_engines`.
  [[nodiscard]] status check_takes(command_kind kind) const;

  /// What a wait of `limit_ms` that has expired reports: 507046 with the task that is next to end
  /// and what it waits for.
  [[nodiscard]] status overdue(std::int64_t limit_ms) const;

  /// The entry of the plan whose fault holds up what it is at, or what it waits for; empty: none.
  [[nodiscard]] std::string held_up_by() const;

  /// Whether it has left its grant with a ticket.
  [[nodiscard]] bool waits() const noexcept {
    return grant_.load(std::memory_order_acquire) == grant_state::blocked;
  }

  /// What the stream is at, in a sentence.
  [[nodiscard]] std::string situation() const;

  /// The command with that number, in brackets, by name and place of its submission; empty if it
  /// has ended. And what the stream is blocked on; no line if on nothing. In simulated runs only.
  [[nodiscard]] std::string origin_of(std::uint64_t number) const;
  [[nodiscard]] ticket awaited_now() const;

  // -- submitting, any thread -------------------------------------------------

  /// Accepts `c` as the stream's next command and wakes whoever must run it. Its number goes to
  /// `number`, if that is not null.
  /// Fails without effect when the stream is closed (107017), its context failed in stop mode (the
  /// first cause), the queue stayed full for the stated time (207014), or nobody would execute it
  /// (see `check_takes`). `held`, a lock of the caller's, is let go before it waits for room.
  status submit(command&& c, std::uint64_t* number = nullptr,
                std::unique_lock<std::mutex>* held = nullptr);

  /// Records into `stamp`. An idle stream takes no command for it: the record is done by being
  /// asked for. The ticket's number goes to `number`. Failures: as `submit`.
  status record(const std::shared_ptr<event_stamp>& stamp, std::uint64_t& number, call_site site,
                std::unique_lock<std::mutex>& held);

  // -- control ----------------------------------------------------------------

  /// Refuses submissions from now on; control only. False if it was closed before.
  bool close();

  /// The stream counts against its device's limit no more.
  void leave_count() noexcept;

  /// Takes the grant of a stream that waits for a ticket or queues for an engine or a slot; false if
  /// it is parked or being executed.
  [[nodiscard]] bool seize();

  /// Drops all that was accepted: what runs is told to stop, what waits will not begin, host
  /// threads that wait for any of it are let go. The stream takes new commands as before.
  void abort();

  /// Gives up on an engine that has not returned after an abort: what was accepted counts as ended
  /// and the stream goes on without it, and without those that help with the same launch. Returns
  /// how many engines that is; 0 if none is inside a command of the aborted ones. They are made up
  /// for at `at`, which is told when they return; null for an engine that is only engaged.
  [[nodiscard]] std::size_t revoke(engine_port* at);

  /// The last handle is gone, and the actor is about to be told: should it not hear of it,
  /// `recovery` tells it again.
  void orphan() noexcept { orphaned_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool orphaned() const noexcept {
    return orphaned_.load(std::memory_order_relaxed);
  }

  /// Returns once every submission that has passed its checks has been accepted.
  void settle_submissions() const { const std::lock_guard lock(submit_guard_); }

  /// Lets a wait that starts at command `number` end with 107020; control only.
  void expire_wait(std::uint64_t number);

  // -- the grant's holder -----------------------------------------------------

  /// Hands the grant to the engines that execute commands of `kind`, or to `at`, as soon as the
  /// stream has a hardware slot.
  void pass_to(command_kind kind);
  void pass_to(engine_port& at);

  /// Whether it has a hardware slot, or gets one at once: what it needs to be executed.
  [[nodiscard]] bool keep_slot() noexcept;

  /// Has what a submission will touch fetched towards the caller's core. With thousands of streams
  /// nothing of this one is there: asked for early, it all comes at once.
  void prefetch_submission() const noexcept {
    __builtin_prefetch(&home_);
    __builtin_prefetch(&submit_guard_, 1);
    __builtin_prefetch(&port_next, 1);
    first_queue_.prefetch_producer();
  }

  /// Has what an engine will touch fetched towards its core: first this record, in time for a later
  /// call the rest of it. Under the port's lock, while the stream queues there.
  void prefetch_record() const noexcept;
  void prefetch_work() const noexcept;

  /// Puts the grant away as there is nothing left; false if work has arrived meanwhile.
  [[nodiscard]] bool park(std::uint64_t next);

  /// Puts the grant away until `line` reaches `number`; false if it has.
  [[nodiscard]] bool block_on(const std::shared_ptr<timeline>& line, std::uint64_t number);

  /// The queue to execute from.
  [[nodiscard]] command_queue& queue() const noexcept {
    return *consumer_queue_.load(std::memory_order_acquire);
  }

  /// The queue that follows the one sealed by an abort, to execute from command `number` on.
  [[nodiscard]] command_queue& next_queue(std::uint64_t number);

  /// An engine begins to execute command `number`, or sets it aside part-way: false if the engine
  /// was given up on meanwhile.
  void begin(std::uint64_t number) noexcept {
    executing_.store(number, std::memory_order_release);
  }
  [[nodiscard]] bool set_aside(std::uint64_t number) noexcept {
    return executing_.compare_exchange_strong(number, 0, std::memory_order_acq_rel);
  }

  /// The blocks of command `number`, which the caller executes, are shared out by `job`.
  void note_split(std::uint64_t number, const std::shared_ptr<block_job>& job);

  /// The engine that keeps the grant for work whose time is modelled, or that never ends; null for
  /// none. It touches nothing meanwhile and can be told to let go.
  void set_engaged(caf::actor engine);
  [[nodiscard]] caf::actor engaged() const;

  [[nodiscard]] bool executes(std::uint64_t number) const noexcept {
    return executing_.load(std::memory_order_acquire) == number;
  }

  /// An engine that was given up on has returned from command `number` of `queue`.
  void abandoned_returned(const command_queue* queue, std::uint64_t number);

  /// The engine that executed command `number` of `queue` is gone: the command fails with `why` and
  /// the stream goes on.
  void engine_lost(const command_queue* queue, std::uint64_t number, const status& why);

  /// The same, but another engine takes its place, which begins the command again.
  void engine_restarted(const command_queue* queue, std::uint64_t number);

  /// Whether command `number` begins for the first time: what befalls it is decided once, however
  /// often an engine takes it up.
  [[nodiscard]] bool begins_first(std::uint64_t number) noexcept {
    return std::exchange(begun_, number) != number;
  }

  /// Notes until when the stream may wait at its present command, and until when an engine may take
  /// to return after an abort; `never_ns`: no limit.
  void note_wait_due(time_ns due) noexcept { wait_due_.store(due, std::memory_order_release); }
  void note_abort_due(time_ns due) noexcept { abort_due_.store(due, std::memory_order_release); }

  /// The command at which the stream waits although its time is over; 0: none.
  [[nodiscard]] std::uint64_t overdue_wait(time_ns now) const noexcept;
  [[nodiscard]] bool abort_is_overdue(time_ns now) const noexcept;

  [[nodiscard]] bool wait_expired(std::uint64_t number) const noexcept {
    return expired_.load(std::memory_order_seq_cst) == number;
  }

  /// Keeps the end of command `number`, which has run, to itself until `publish_withheld`: a
  /// completion that did not arrive. The grant stays with it.
  void withhold(std::uint64_t number) noexcept {
    withheld_.store(number, std::memory_order_release);
  }
  void publish_withheld(std::uint64_t number);
  [[nodiscard]] std::uint64_t withheld() const noexcept {
    return withheld_.load(std::memory_order_acquire);
  }

  /// What command `number` fails with, which was lost on its way here; once.
  [[nodiscard]] status why_lost(std::uint64_t number);

  /// Takes down the failure of a command: record made, stop mode honoured. Returns the failure.
  status fail(const command& c, const status& why);

  // -- failures, any thread ---------------------------------------------------

  /// The first unreported failure of the commands up to `number`; all of theirs count as reported
  /// from now on, later ones do not. Success if there is none.
  [[nodiscard]] status take_failure(std::uint64_t number);

  /// The first unreported failure up to `number`; stays unreported.
  [[nodiscard]] status failure_up_to(std::uint64_t number) const;

  /// The place of that failure among those of its context; the highest number if there is none.
  [[nodiscard]] std::uint64_t failure_order_up_to(std::uint64_t number) const;

  /// Why work that was accepted did not run: 100001 or 507007 when runtime or context have ended,
  /// the context's first failure in stop mode, else 107023.
  [[nodiscard]] status why_dropped() const;

  /// What a wait reports that an abort or the loss of the device has ended.
  [[nodiscard]] status why_interrupted() const;

  /// The failures since the stream was made, oldest first, at most `failures_kept`. Reported ones
  /// make room first; past that many unreported ones, the first half and the newest are kept.
  [[nodiscard]] std::vector<status> failures() const;

  static constexpr std::size_t failures_kept = 64;

  caf::actor actor; ///< set once, before the record is shared

  // Links of the engine port; guarded by its lock.
  alignas(64) stream_record* port_next = nullptr;
  stream_record* port_previous = nullptr;
  std::uint64_t port_ticket = 0;
  std::atomic<engine_port*> port = nullptr; ///< where it queues; null if nowhere
  slot_place slot;            ///< see `slot_table`
  std::uint64_t handoffs = 0; ///< counted where a hand-over may be lost; see `engine_port`

private:
  std::atomic<grant_state> grant_ = grant_state::parked;
  std::atomic<std::uint64_t> expired_ = 0;

public:
  /// The port whose engine executed it last, or does now; and the task it began last.
  alignas(64) std::atomic<engine_port*> served_at = nullptr;
  std::atomic<const char*> running_name = nullptr;

  /// Where faults may strike on its way; null in a runtime without a plan.
  struct channels {
    std::array<channel_count, engine_kind_count> handoffs; ///< by kind of the engines
    channel_count timers;
  };
  const std::unique_ptr<channels> passed;

private:
  std::atomic<std::uint64_t> executing_ = 0; // begun last by an engine; 0 once set aside
  std::atomic<std::uint64_t> withheld_ = 0;  // has run, but its end is not published; 0: none
  std::uint64_t begun_ = 0; // the grant holder's, where faults may befall it

  void on_ticket(ticket_state state) noexcept override;
  [[nodiscard]] std::string doing(std::string& task) const;
  [[nodiscard]] std::string rest_from(std::uint64_t next, std::string& task) const;
  status strike_submission(command& c);
  bool has_room(); // under the submit lock
  status make_room(std::unique_lock<std::mutex>& lock);
  std::uint64_t accept(command&& c, std::unique_lock<std::mutex>& lock);
  status queue_full_status() const;
  void leave_slot();

  // Each abort seals the queue in use and opens another. Commands are pushed to the last; an
  // abandoned one stays for the engine that never returned from it.
  struct queue_ender {
    bool on_heap = true;
    void operator()(command_queue* ended) const;
  };
  struct held_queue {
    std::unique_ptr<command_queue, queue_ender> queue;
    bool abandoned = false;
    engine_port* port = nullptr; // where the engine it was abandoned to is made up for
  };
  [[nodiscard]] std::size_t give_up_helpers();
  void open_queue(std::uint64_t first);
  void open_queue_after(std::uint64_t mark, engine_port* at, std::vector<held_queue>& ended);

  // What is seldom written, what the submitter writes, what the engine writes and what both hand
  // over each have cache lines of their own; the first queue lies beside them.
  alignas(64) machine& home_;
  const std::shared_ptr<context_record> context_;
  const identity who_;
  const std::shared_ptr<timeline> line_;
  command_queue* producer_queue_ = &first_queue_; // changes under the submit lock
  alignas(64) mutable std::mutex submit_guard_;
  std::uint64_t room_seen_ = 0; // completed, as the submitter last saw it
  std::atomic<std::uint32_t> unreported_ = 0; // failures at the end of the list; see failure_guard_
  std::atomic<bool> closed_ = false;
  std::atomic<bool> orphaned_ = false;
  std::atomic<bool> counted_ = true;
  command_queue first_queue_{1, who_.id};

  std::atomic<command_queue*> consumer_queue_ = &first_queue_;
  std::vector<held_queue> queues_;
  std::atomic<time_ns> wait_due_ = never_ns;
  std::atomic<time_ns> abort_due_ = never_ns;
  mutable std::mutex blocked_guard_;
  std::weak_ptr<timeline> blocked_on_;
  std::uint64_t blocked_number_ = 0;
  caf::actor engaged_;             // under the same lock
  std::weak_ptr<block_job> split_; // the launch shared out last; under the same lock

  struct failure {
    std::uint64_t number;
    std::uint64_t order; // among those of the context
    status what;
  };
  [[nodiscard]] const failure* first_unreported(std::uint64_t number) const; // under the lock

  mutable std::mutex failure_guard_;
  std::map<std::uint64_t, status> lost_; // commands that a fault let get lost, until they fail
  std::vector<failure> failures_;
  std::uint64_t failure_count_ = 0;
};

} // namespace troupe
