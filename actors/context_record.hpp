#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <caf/actor.hpp>

#include "actors/event_count.hpp"
#include "actors/stream_record.hpp"
#include "actors/ticket.hpp"
#include "actors/wait_book.hpp"
#include "core/status.hpp"

namespace troupe {

class device_record;
class machine;
class pool_record;

/// What everyone shares of one context, the isolation domain: its streams, its error state, whether
/// it still exists. The context actor owns the control side; see `context_actor.hpp`.
class context_record final : public std::enable_shared_from_this<context_record> {
public:
  context_record(machine& home, device_record& device, std::uint64_t id, bool primary);

  // -- observers, any thread --------------------------------------------------

  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] bool primary() const noexcept { return primary_; }
  [[nodiscard]] device_record& device() const noexcept { return device_; }
  [[nodiscard]] machine& home() const noexcept { return home_; }
  [[nodiscard]] bool destroyed() const noexcept {
    return destroyed_.load(std::memory_order_acquire);
  }

  /// Whether a failure in stop mode, or the loss of the device, has ended all work of this context.
  [[nodiscard]] bool poisoned() const noexcept { return poisoned_.load(std::memory_order_seq_cst); }
  [[nodiscard]] bool stop_on_failure() const noexcept {
    return stop_on_failure_.load(std::memory_order_relaxed);
  }

  /// Success, the failure that poisoned the context, or 507007 when it was destroyed.
  [[nodiscard]] status check_usable() const {
    return troubled() ? trouble() : status{};
  }
  [[nodiscard]] bool troubled() const noexcept { return destroyed() || poisoned(); }

  // -- error state ------------------------------------------------------------

  /// Sets stop mode, which cannot be taken back.
  void stop_at_failure() noexcept { stop_on_failure_.store(true, std::memory_order_relaxed); }

  /// Takes down a task's failure: in stop mode the first one poisons the context; what waits in its
  /// streams is dropped, and what runs there is told to stop.
  void note_failure(const status& failure);

  /// Refuses everything from now on with `cause`, unless it does with an earlier one: then false.
  /// To be followed by `drop_poisoned`, which aborts what was accepted before, on a thread that
  /// holds no lock and no grant but that of a stream that has just failed.
  bool poison_by(const status& cause);
  void drop_poisoned();

  /// As `poison_by` with what ails the whole device, but it is replaced by the next such and lifted by
  /// a success. A failure of the context's own goes first.
  void set_device_trouble(const status& why);

  /// Numbers the failures of this context's streams in the order in which they came.
  [[nodiscard]] std::uint64_t next_failure_order() noexcept {
    return failures_so_far_.fetch_add(1, std::memory_order_relaxed);
  }

  /// Takes over the first unreported failure of a stream that ends with nobody to report it to. At
  /// most `inherited_kept`: the earliest, as first causes count.
  void inherit_failure(stream_record& stream);

  /// What was taken over from a stream, if it is of a command up to `number`; stays unreported.
  [[nodiscard]] status inherited_failure_up_to(std::uint64_t stream_id, std::uint64_t number) const;

  /// The first, over all these streams and those that ended, of the failures nobody was told of.
  /// It counts as reported, with the later ones of its own stream; other streams' failures do not.
  struct stream_target {
    std::shared_ptr<stream_record> stream;
    std::uint64_t number;
  };
  [[nodiscard]] status take_first_failure(const std::vector<stream_target>& targets);

  static constexpr std::size_t inherited_kept = 64;

  /// What poisoned the context; success if nothing has.
  [[nodiscard]] status poison() const;

  // -- streams ----------------------------------------------------------------

  void add(const std::shared_ptr<stream_record>& stream);

  /// A stream has ended. With the last one of a destroyed context its device forgets the context.
  void forget(std::uint64_t stream_id);
  [[nodiscard]] std::vector<std::shared_ptr<stream_record>> streams() const;

  /// The stream that stands for "no stream named"; null once the context has ended.
  [[nodiscard]] std::shared_ptr<stream_record> default_stream() const;
  void set_default_stream(std::shared_ptr<stream_record> stream);

  // -- pools ------------------------------------------------------------------

  void add(const std::shared_ptr<pool_record>& pool);
  [[nodiscard]] std::vector<std::shared_ptr<pool_record>> pools() const;

  /// Some pool holds more than it is to keep: what a synchronise then looks after.
  void note_surplus() noexcept {
    if (!surplus_.load(std::memory_order_relaxed)) surplus_.store(true, std::memory_order_release);
  }
  [[nodiscard]] bool has_surplus() const noexcept {
    return surplus_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool take_surplus() noexcept {
    return surplus_.exchange(false, std::memory_order_acq_rel);
  }

  /// What its streams come after; kept from when a pool of it asks for that.
  [[nodiscard]] wait_book& waits() noexcept { return waits_; }
  void keep_waits() noexcept { keeps_waits_.store(true, std::memory_order_release); }
  [[nodiscard]] bool keeps_waits() const noexcept {
    return keeps_waits_.load(std::memory_order_relaxed);
  }

  /// Memory has been handed out that a stream may touch only because of its waits: after an abort of
  /// such a stream commands are looked at.
  void note_followed() noexcept { followed_.store(true, std::memory_order_release); }
  [[nodiscard]] bool followed() const noexcept { return followed_.load(std::memory_order_relaxed); }

  // -- memory -----------------------------------------------------------------

  /// The streams' work that has not ended, and that of other contexts that touches this one's
  /// memory: what a block freed now may still be used by.
  [[nodiscard]] frontier outstanding() const;

  /// Notes work of another context that touches this one's memory.
  void note_foreign_use(ticket use);

  /// As `stream_record::orphan`.
  void orphan() noexcept { orphaned_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool orphaned() const noexcept {
    return orphaned_.load(std::memory_order_relaxed);
  }

  /// Notes that `work` is being given up on: until it really ends it may touch this context's
  /// memory.
  void note_stray(ticket work);

  /// Whether such work still goes on.
  [[nodiscard]] bool has_strays() {
    return strays_noted_.load(std::memory_order_acquire) && any_stray_left();
  }

  /// One of the device's events: given back when the last copy goes, or the context ends. 207007
  /// when none is left, 507007 when the context was destroyed.
  [[nodiscard]] result<std::shared_ptr<void>> take_event_slot();

  /// Marks the context as gone, and its events with it. False if it was already.
  bool mark_destroyed() noexcept;

  caf::actor actor; ///< set once, before the record is shared

private:
  [[nodiscard]] status trouble() const;
  [[nodiscard]] bool any_stray_left();

  machine& home_;
  device_record& device_;
  const std::uint64_t id_;
  const bool primary_;
  const std::shared_ptr<event_count> events_; // shared with the slots, which may outlive this
  std::atomic<bool> destroyed_ = false;
  std::atomic<bool> poisoned_ = false;
  std::atomic<bool> orphaned_ = false;
  std::atomic<bool> stop_on_failure_ = false;
  std::atomic<bool> surplus_ = false;
  std::atomic<bool> keeps_waits_ = false;
  std::atomic<bool> followed_ = false;
  wait_book waits_;
  std::atomic<bool> strays_noted_ = false; // beside what each command looks at anyway
  mutable std::mutex guard_;
  status poison_;
  status device_trouble_;
  std::map<std::uint64_t, std::shared_ptr<stream_record>> streams_;
  std::shared_ptr<stream_record> default_stream_; // a cycle, broken when the context ends
  std::vector<std::weak_ptr<pool_record>> pools_;
  frontier foreign_uses_;
  frontier strays_;
  std::atomic<std::uint64_t> failures_so_far_ = 0;
  struct inherited_failure {
    std::uint64_t order;
    status what;
  };
  std::vector<inherited_failure> inherited_;
};

} // namespace troupe
