#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "core/access.hpp"
#include "core/counters.hpp"
#include "core/kernel_closure.hpp"
#include "core/kernel_registry.hpp"
#include "core/status.hpp"
#include "core/task.hpp"
#include "troupe/copy_batch.hpp"
#include "troupe/copy_conversion.hpp"
#include "troupe/copy_request.hpp"
#include "troupe/copy_rows.hpp"
#include "troupe/duration.hpp"
#include "troupe/event.hpp"
#include "troupe/handles.hpp"

namespace troupe {

/// What a stream does after a task has failed.
enum class failure_mode : unsigned char {
  go_on, ///< later tasks run; the next synchronise reports the failure and clears it
  /// The first failure ends all work of the context, the default stream included: what waits does
  /// not run, what runs is told to stop, and waits return with that failure.
  stop,
};

namespace detail {

/// Tells memory that wants to know (a pool's) which stream uses it.
template <class Argument>
void note_use(const Argument& argument, const handles::stream_state* user) noexcept {
  if constexpr (requires { argument.used_on(user); }) argument.used_on(user);
}

} // namespace detail

/// An ordered queue of commands on a device. Commands of one stream run in the order of submission;
/// streams run in parallel; only events and signals order one stream after another.
///
/// A shared handle: copies are one stream. When the last goes, the stream finishes what it accepted
/// and ends by itself; no destructor waits, and failures that nobody was told of are reported by
/// `context::synchronize`. All calls may be made from any thread, except from inside kernels and
/// host callbacks (207000; see `callback` for what is allowed there).
///
/// Every submission can fail with: 107017 (stream destroyed, or an empty handle), 507007 (its context
/// has ended), 107003 (the thread's current context is another one), the context's first failure in
/// stop mode, 207014 (the queue stayed full), 107023 (aborted while the submission waited for room),
/// 100001 (runtime shut down). A refused submission has no effect.
class stream {
public:
  stream() noexcept = default;
  explicit stream(std::shared_ptr<handles::stream_state> state);

  // -- work -------------------------------------------------------------------

  /// Runs `kernel(args...)` on the device; `kernel(block, args...)` if it wants its block. The
  /// callable's parameters declare its access: a `span<const T>` parameter is read, a `span<T>` is
  /// written, and takes a buffer or `device_span`; other parameters are values, copied now. A
  /// kernel that throws or returns a failing status fails its task (507015 unless it says
  /// otherwise; also if what it throws holds a success). Further failures: 107000 for 0 blocks or
  /// memory of another context.
  ///
  /// What the kernel captured ends before its task counts as ended: on the engine, or, if the task
  /// is dropped, on whichever thread drops it. That may be any thread that waits in a call of this
  /// runtime. Destructors are inside user code as the kernel is (207000); they should be short and
  /// take no lock that a thread holds while it calls the runtime.
  template <class Kernel, class... Args>
  status launch(const task& t, Kernel&& kernel, const Args&... args) {
    if (auto s = check_launch(t, {detail::context_of(args)...}); !s.ok()) return s;
    (detail::note_use(args, state_.get()), ...);
    return submit(make_kernel_command(t, std::forward<Kernel>(kernel), args...));
  }

  /// Runs a kernel registered with the runtime under the task's name. Failures besides those of
  /// `launch`: 507027 for an unknown name, 107000 for arguments that do not fit.
  template <class... Args>
  status launch_by_name(const task& t, const Args&... args) {
    if (auto s = check_launch(t, {detail::context_of(args)...}); !s.ok()) return s;
    auto entry = find_kernel(t.name);
    if (!entry) return entry.error();
    auto made = make_named_command(t, std::move(entry).value(), args...);
    if (!made) return made.error();
    (detail::note_use(args, state_.get()), ...);
    return submit(std::move(made).value());
  }

  /// As `launch`, for callers that learn a kernel's memory at run time, as those from other languages:
  /// runs `kernel(block)`, which touches the bytes of `memory` and no others, all of them of the
  /// stream's context. It is called from several threads at once where there are several blocks.
  /// Memory of a pool wants its `pool_buffer::used_on` called before. Further failure: 107000 for a
  /// null kernel.
  status launch_over(const task& t, std::function<status(const block&)> kernel,
                     std::vector<access_range> memory);

  /// Copies all of `source` to `target`: host to device, device to host or device to device (also
  /// of another context or device), by buffers, views or host ranges of one element type. With
  /// pinned host memory (`host_buffer`) it returns at once and the host side is read or written
  /// when the copy runs; with ordinary host memory it returns when the copy has ended and success
  /// means that it ran. Source and target may overlap: the target then holds what the source held
  /// before. Failures: 107000 when the target is too small, or a range of device or pinned memory
  /// does not lie in one allocation in use; 207000 from host to host; with ordinary memory also why
  /// an accepted copy did not run: 107023 after an abort, the context's first failure in stop mode,
  /// 507007 or 100001 as context or runtime ended.
  template <class Target, class Source>
  status copy(Target&& target, const Source& source, call_site site = call_site::here()) {
    return copy_raw(make_copy_request(target, source, site));
  }

  /// As `copy`, for raw memory. A null pointer, a kind that contradicts the addresses, or room for
  /// less than `bytes` give 107000; zero bytes succeed before any other check.
  status copy_raw(const copy_request& request);

  /// Copies rows of bytes; directions and failures as of `copy_raw`, and 107000 for a pitch below the
  /// width, and for source and target that overlap with different pitches. No width or no height
  /// succeeds before any other check.
  status copy_2d(const copy_2d_request& request);

  /// Makes up to 65,536 copies of one direction as one command, one after another; with the checks of
  /// `copy_raw` for each, all before any is made: the failure names the first entry that is not
  /// right. It waits as `copy` does if any entry has ordinary host memory. Entries of 0 bytes are
  /// passed over.
  status copy_batch(const copy_batch_request& request);

  /// Copies all of `source` to `target` and converts the elements on the way, `float` to or from
  /// `half`, `bfloat16` or, with a scale, `std::int8_t`; `conversion` has the rules of rounding. Else
  /// as `copy`. Further failures: 107000 for source and target that overlap, and for a scale that is
  /// not finite and above 0, or not 1 without `std::int8_t`.
  template <class Target, class Source>
  status convert(Target&& target, const Source& source, float scale = 1,
                 call_site site = call_site::here()) {
    return convert_raw(make_convert_request(target, source, scale, site));
  }

  /// As `convert`, for raw memory at any alignment.
  status convert_raw(const convert_request& request);

  /// Sets every byte of `target` to `value`. Failures besides the common: 107000 for memory of
  /// another context, or a range that does not lie in one allocation in use.
  template <class Target>
    requires device_memory<Target>
  status fill_bytes(const Target& target, unsigned char value,
                    call_site site = call_site::here()) {
    return fill_raw(target.data(), detail::bytes_in(target.size(), sizeof(*target.data())), value,
                    target.context_id(), site);
  }

  /// Sets every element of `target`, of 1, 2, 4 or 8 bytes, to `value`; failures as of `fill_bytes`.
  template <class Target>
    requires device_memory<Target>
  status fill(const Target& target, const typename Target::element_type& value,
              call_site site = call_site::here()) {
    return fill_2d(make_fill_request(target, value, site));
  }

  /// Fills rows of device memory; 107000 as well for a pitch below the width.
  status fill_2d(const fill_2d_request& request);

  /// Calls `function` on a host thread in stream order: after all before it, and nothing after it
  /// begins before it returns. Inside it, as inside kernels, calls of the runtime that
  /// allocate, free, submit, wait, open or ask an actor (as `device::memory` does) are refused with
  /// 207000, also when they are for another runtime. What only looks is allowed: queries, counters,
  /// properties, options, failures, diagnostics, `context::health` and `signal::raise`. What it
  /// throws fails its task with 507000.
  status callback(const task& t, std::function<void()> function);

  // -- order ------------------------------------------------------------------

  /// Records `e` here. Failures besides the common: 107003 when `e` is of another device or
  /// runtime, 107017 when it or its context is destroyed. After a failure the last record is in
  /// force as before. Of records by several threads at once on one stream the later number counts.
  status record(const event& e, call_site site = call_site::here());

  /// Holds back all later commands until `e`'s last record is reached; an event never recorded, a
  /// record already reached or one of this very stream costs nothing. With a limit the wait fails
  /// as a task with 107020 once the stream has waited that long. Failures besides the common:
  /// 107023 when the record was dropped by an abort, 107000 when `e` is of another runtime.
  ///
  /// A record that is dropped while the stream waits for it is never reached. By an abort or a
  /// forced destroy: the stream stalls, and what expires on it names the dropped stream, until it
  /// is aborted itself. By a failure in stop mode of the context it is of: the wait fails as a task
  /// with 107023, that failure being its cause, and the stream goes on; no matter which came first.
  status wait(const event& e, timeout limit = forever, call_site site = call_site::here());

  /// Holds back all later commands until `s` is raised.
  status wait(const signal& s, timeout limit = forever, call_site site = call_site::here());

  // -- completion -------------------------------------------------------------

  /// Waits for everything submitted before the call. Reports the first failure of that work since
  /// the last report, once (in stop mode: the context's first failure, every time); `failures` has
  /// the others. Further failures: 507046 at the limit, naming the task that runs; 107000 for a bad
  /// limit; 107023 when the stream was aborted meanwhile; a call that ends with one of these takes
  /// no task's failure. On success everything submitted before the call and not aborted has run,
  /// and all its effects are visible to the caller. Work that an abort dropped before the call is
  /// not reported: whoever waited then was told, and `counters().dropped` has its number.
  status synchronize(timeout limit = forever) const;

  /// Whether everything submitted before the call has ended, its effects then visible. Never
  /// reports a task's failure.
  [[nodiscard]] result<bool> query() const;

  /// The failures of tasks of this stream, oldest first, at most 64: reported ones make room for
  /// new ones; of more unreported ones the first 32 and the newest 32 are kept. `counters().failed`
  /// counts all.
  [[nodiscard]] std::vector<status> failures() const;

  // -- control ----------------------------------------------------------------

  /// Drops everything submitted so far: what runs is told to stop, waiting host threads get
  /// 107023. The stream stays usable, and a synchronise that begins after the abort knows nothing
  /// of it; `counters().dropped` does. Does not wait for a kernel that runs. A stream that another
  /// thread is destroying drops what it still holds, so that the `destroy` returns.
  status abort() const;

  /// Ends the stream for all its handles: waits for its work, or drops it at once by `force`, and
  /// then also within the runtime's stop bound. A plain `destroy` that waits for ever can be ended
  /// from another thread by `abort` or `destroy(true)`: both return then. Failures: 107017 when it
  /// has ended or, without force, is being destroyed, 107003 as for submissions, 107000 for a
  /// context's default stream. Without force also the first failure of its tasks that nobody was
  /// told of, and 107023, 507007 or 100001 when its work was dropped meanwhile by an abort or the
  /// end of context or runtime: the stream is destroyed all the same. A context that failed in stop
  /// mode tells so itself: there destroying succeeds.
  status destroy(bool force = false);

  /// Sets what a failure does. `stop` holds for the whole context and cannot be taken back
  /// (207000).
  status set_failure_mode(failure_mode mode) const;

  // -- observers --------------------------------------------------------------

  [[nodiscard]] std::uint64_t id() const noexcept;
  [[nodiscard]] unsigned priority() const noexcept;
  [[nodiscard]] std::uint64_t context_id() const noexcept { return context_id_; }
  [[nodiscard]] stream_counters counters() const;
  [[nodiscard]] const std::shared_ptr<handles::stream_state>& state() const noexcept {
    return state_;
  }

private:
  status check_launch(const task& t, std::initializer_list<std::uint64_t> contexts) const {
    for (const auto each : contexts) {
      if (each != 0 && each != context_id_) [[unlikely]] return foreign_memory(t, contexts);
    }
    return t.blocks != 0 ? status{} : no_blocks(t);
  }
  status foreign_memory(const task& t, std::initializer_list<std::uint64_t> contexts) const;
  static status no_blocks(const task& t);
  [[nodiscard]] result<std::shared_ptr<const kernel_entry>> find_kernel(const char* name) const;
  status submit(command&& c) const;
  status fill_raw(void* target, std::size_t bytes, unsigned char value, std::uint64_t context,
                  call_site site);

  std::shared_ptr<handles::stream_state> state_;
  std::uint64_t context_id_ = 0;
};

} // namespace troupe
