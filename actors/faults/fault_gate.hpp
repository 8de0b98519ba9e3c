#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "actors/engine_port.hpp"
#include "actors/faults/attacked_actor.hpp"
#include "actors/scheduling/clock.hpp"
#include "core/command.hpp"
#include "core/faults/fault_injector.hpp"
#include "core/status.hpp"

namespace troupe {

class actor_base;
class device_record;
class graph_replay;
class machine;
class stream_record;
class wired_actor;

/// Where the faults of a plan enter a runtime: every hand-over between its parts asks here, under
/// the stable name of its channel, whether something happens to it. A runtime without a plan has no
/// gate, and asks nothing.
///
/// The gate decides and keeps the account; the part that asked carries the fault out, so that what
/// happens next happens by the runtime's own means. Any thread.
class fault_gate {
public:
  using strike = std::optional<fault_activation>;

  /// `plan` must be valid.
  fault_gate(machine& home, fault_plan plan);

  // -- asking -----------------------------------------------------------------

  [[nodiscard]] strike at_submit(const stream_record& stream, const command& c,
                                 std::uint64_t number);
  [[nodiscard]] strike at_execute(const stream_record& stream, const command& c, engine_kind by);

  /// The step that `replay` is at: the channel is called after graph, replay and stream, the ordinal
  /// is the step's place.
  [[nodiscard]] strike at_node(const stream_record& stream, const graph_replay& replay,
                               const command& step, engine_kind by);
  [[nodiscard]] strike at_complete(const stream_record& stream, const command& c);
  [[nodiscard]] strike at_handoff(const stream_record& stream, engine_kind to);

  /// The notice `number` of the timeline `line`.
  [[nodiscard]] strike at_notice(std::uint64_t line, std::uint64_t number);
  [[nodiscard]] strike at_message(wired_actor& target, const std::string& kind);
  [[nodiscard]] strike at_allocate(const std::string& memory, std::uint64_t owner,
                                   std::uint64_t bytes);

  /// An answer to `call` of the actor `from`, called as by `name_of`, which may have ended by now;
  /// `answers` are those of it so far.
  [[nodiscard]] strike at_reply(const std::string& from, channel_count& answers, const char* call);

  /// What is known of `who`, which must be wired; good when that has ended.
  [[nodiscard]] std::shared_ptr<attacked_actor> known_of(actor_base& who);
  [[nodiscard]] strike at_timer(const stream_record& stream);
  [[nodiscard]] strike at_heartbeat(device_record& device);

  /// From now on nothing is struck any more.
  void stop() noexcept { stopped_.store(true, std::memory_order_relaxed); }

  /// Only what happens in a context of that tenant is struck, and counts as a match; in a simulated
  /// run, before anything has happened in it.
  void strike_only(std::uint32_t tenant) noexcept { only_tenant_ = tenant; }

  // -- carrying out -----------------------------------------------------------

  /// When what was struck by a delay or a hold is to happen; nothing for other faults.
  [[nodiscard]] std::optional<time_ns> late_until(const fault_activation& by) const;

  [[nodiscard]] time_ns now() const;

  /// When a fault that lasts a while from now ends; `never_ns` if it has no end.
  [[nodiscard]] time_ns end_of(const fault_action& action) const;

  /// When a timer of `stream` that is due at `due` will fire; `never_ns` if it is lost.
  [[nodiscard]] time_ns timer_due(const stream_record& stream, time_ns due);

  /// Runs `action` at `due`, on a thread of control.
  void later(time_ns due, std::function<void()> action) const;

  /// The failure that `by` causes.
  [[nodiscard]] static status failure(const fault_activation& by, std::string what);

  /// "stream 7", by the actor's own number: as channels are called.
  [[nodiscard]] static std::string name_of(const actor_base& who);

  /// Notes that `by` kills `who`; and the entry of the plan that did, if any.
  void note_kill(wired_actor& who, const fault_activation& by);
  [[nodiscard]] std::string entry_that_killed(const actor_base& who);
  [[nodiscard]] status why_killed(const actor_base& who);

  /// Notes that a message to `who` is held up by `by`, or no more; and the entry of the plan that
  /// holds up messages to it, if any.
  void note_held(wired_actor& who, const fault_activation& by);
  void note_let_go(wired_actor& who);
  [[nodiscard]] std::string entry_holding(const attacked_actor& who);

  // -- observers --------------------------------------------------------------

  [[nodiscard]] fault_report report() const { return injector_->report(); }

  /// How many channels it counts on itself: of memories and of looks at devices. Those of actors and
  /// streams, which come and go, are counted on by these.
  [[nodiscard]] std::size_t channels() const;

  /// Who decides; may be kept when the gate is gone.
  [[nodiscard]] std::shared_ptr<const fault_injector> injector() const noexcept {
    return injector_;
  }

private:
  [[nodiscard]] fault_site site_of(const stream_record& stream, fault_point point) const;
  [[nodiscard]] strike decide_on(device_record& device, const fault_site& site,
                                 const std::string& channel, std::uint64_t ordinal);
  [[nodiscard]] strike decide_on(const stream_record& stream, const fault_site& site,
                                 const std::string& channel, std::uint64_t ordinal);
  void lose(device_record& device, const fault_activation& by) const;
  [[nodiscard]] strike decide(fault_site site, const std::string& channel, std::uint64_t ordinal);
  [[nodiscard]] attacked_actor& known_of(wired_actor& who); // under the lock
  [[nodiscard]] std::uint64_t next_on(const std::string& channel);
  [[nodiscard]] time_ns age() const;
  [[nodiscard]] bool spares(const fault_site& site) const;

  machine& home_;
  const std::shared_ptr<fault_injector> injector_;
  std::atomic<bool> stopped_ = false;
  std::uint32_t only_tenant_ = 0; // 0: whatever it is
  mutable std::mutex guard_; // of all below, and of what it knows of actors
  std::map<std::string, channel_count, std::less<>> passed_; // by channel
};

} // namespace troupe
