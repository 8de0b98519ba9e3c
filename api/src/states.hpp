#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "actors/context_record.hpp"
#include "actors/device_record.hpp"
#include "actors/machine.hpp"
#include "actors/payloads.hpp"
#include "actors/pool_record.hpp"
#include "actors/stream_record.hpp"
#include "actors/ticket.hpp"
#include "actors/user_scope.hpp"
#include "troupe/handles.hpp"

namespace troupe {
namespace handles {

/// An event: the ticket and stamp of its last record, and its place in the device's quota. Streams
/// and waits keep what they need of it, so it can end at any time.
struct event_state {
  event_state(std::shared_ptr<machine> h, std::shared_ptr<context_record> o,
              std::shared_ptr<void> s)
      : home(std::move(h)), owner(std::move(o)), device(owner->device()), slot(std::move(s)) {}

  const std::shared_ptr<machine> home;
  const std::shared_ptr<context_record> owner;
  device_record& device;

  std::mutex guard;
  std::shared_ptr<void> slot; ///< null once the event is destroyed
  ticket last;                ///< no line if never recorded
  std::shared_ptr<event_stamp> stamp;
  std::shared_ptr<event_stamp> spare; ///< of an earlier record, for the next one; or null
  std::weak_ptr<stream_record> recorded_on;
  std::weak_ptr<context_record> recorded_in; ///< that stream's context

  /// Success, or 107017 once the event or its context is destroyed. Under the guard.
  [[nodiscard]] status check_alive() const;
};

/// A pool and the duty to close it when the last handle and block are gone.
struct pool_state {
  pool_state(std::shared_ptr<context_state> o, std::shared_ptr<pool_record> r)
      : owner(std::move(o)), record(std::move(r)) {}
  ~pool_state();
  pool_state(const pool_state&) = delete;
  pool_state& operator=(const pool_state&) = delete;

  const std::shared_ptr<context_state> owner;
  const std::shared_ptr<pool_record> record;
};

} // namespace handles

/// Whether a call that acts on the runtime may be made here and now: 100001, 207000, or success.
/// In a simulation others may act first; 107019 when it hangs.
[[nodiscard]] inline status may_call(const machine& home, const char* call) {
  if (auto s = home.check_alive(); !s.ok()) return s;
  if (auto s = user_scope::refuse_inside(call); !s.ok()) return s;
  return home.let_others_act(call);
}

/// The same for a call on a context: also 107002 for an empty handle, 507007 for one destroyed, and
/// 507010 while its device is lost.
[[nodiscard]] status may_use(const std::shared_ptr<handles::context_state>& state,
                             const char* call);

/// 107017, of an empty handle of a stream.
[[nodiscard]] status empty_stream();

/// What every submission asks first, the same for a stream: also 107017 for an empty handle, and
/// 107003 where the thread is bound to another context.
[[nodiscard]] status may_submit(const std::shared_ptr<handles::stream_state>& state,
                                const char* call);

/// Why `record` takes no work, as `by_memory` tells. Memory of a context that has ended is gone as
/// well: the first cause counts.
[[nodiscard]] status refused(const stream_record& record, status by_memory);

/// Ends `record` for good; see `context::destroy`.
status end_context(machine& home, context_record& record);

/// What gives back an answer for a caller that had gone (see `ask`): a context ends, a block of
/// `memory`, which `keeper` keeps, is freed for `owner`.
void end_unwanted(result<std::shared_ptr<context_record>>& context);
[[nodiscard]] std::function<void(result<memory_block>&)> free_unwanted(
    const caf::actor& keeper, const std::shared_ptr<memory_record>& memory, std::uint64_t owner);

/// The deadline for a wait limit that begins now; 107000 for 0 and for negative ones but `forever`.
[[nodiscard]] result<time_ns> deadline_after(const machine& home, std::int64_t limit_ms);

/// A limit of `limit_ms`, positive or `forever`, in nanoseconds; `never_ns` if that is too long.
[[nodiscard]] time_ns limit_ns(std::int64_t limit_ms) noexcept;

/// `count * element_bytes`, or 100000 when it is zero and 107000 when it does not fit 64 bits.
[[nodiscard]] result<std::uint64_t> bytes_of(std::size_t count, std::size_t element_bytes);

} // namespace troupe
