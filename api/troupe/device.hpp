#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/counters.hpp"
#include "core/device_health.hpp"
#include "core/device_profile.hpp"
#include "core/status.hpp"
#include "troupe/address_range.hpp"
#include "troupe/context.hpp"
#include "troupe/duration.hpp"
#include "troupe/handles.hpp"

namespace troupe {

/// What a device can compute, from its profile and its counters.
struct compute_info {
  unsigned cores = 0;
  unsigned clock_khz = 0;
  double peak_flops = 0; ///< FLOP/s of the profile
  double utilisation = 0; ///< share of the compute engines' time in use since the start, 0 to 1
};

/// One device of a runtime. A light handle; any thread. One that was moved from is empty: its calls
/// fail with 107017 and its figures are zero.
class device {
public:
  device(std::shared_ptr<machine> home, device_record* record) noexcept
      : home_(std::move(home)), record_(record) {}

  [[nodiscard]] std::uint32_t index() const noexcept;
  [[nodiscard]] const device_profile& profile() const noexcept;

  /// A context of the caller's own. Failures: 207005 at the device's limit of streams, 507010 while
  /// the device is lost, 100001 after shutdown, 207000 inside kernels and callbacks.
  [[nodiscard]] result<context> create_context(const context_options& options = {}) const;

  /// Figures of the device's memory, after reuse of what may be reused by now.
  [[nodiscard]] result<memory_info> memory() const;

  // -- memory that the program maps itself --------------------------------------

  /// Sizes, places and alignments of mappings are multiples of this many bytes.
  static constexpr std::size_t mapping_granularity = address_map::granule;

  /// Addresses for `bytes` bytes, rounded up to the granularity, at a multiple of `alignment` (0:
  /// the granularity), with nothing mapped. There are four times as many as the device has memory.
  /// Failures: 100000 for 0 bytes, 107000 for an alignment that is no power of two up to 1 GiB,
  /// 207001 when the device or the process has no such addresses left, 507010 while it is lost.
  [[nodiscard]] result<address_range> reserve(std::size_t bytes, std::size_t alignment = 0) const;

  /// Memory of `bytes` bytes, rounded up to the granularity, to be mapped. It counts as used memory
  /// of the device and of no context, and outlives a reset. Failures as of `context::allocate`.
  [[nodiscard]] result<physical_memory> create_physical(std::size_t bytes) const;

  // -- control ------------------------------------------------------------------

  /// Ends all contexts of the device, the primary one included: drops their work, gives their
  /// memory back and waits until that is done. A device that was lost (507010) and is back is usable
  /// again after this, and after nothing else; one whose actor or memory's actor has died, too. Failures: 507010 if it is still gone; 107019 and
  /// others if a context did not end, and a further call goes on; 207000 inside kernels and
  /// callbacks.
  [[nodiscard]] status reset() const;

  // -- trouble ------------------------------------------------------------------

  /// What the device is good for; takes no lock that a device in trouble holds, and changes nothing.
  [[nodiscard]] device_health health() const noexcept;

  /// The memory fault that made the device `faulted`: the task that met it and the parts of memory
  /// that it wrote; nothing when there is none. It is kept until a repair or a reset.
  [[nodiscard]] std::optional<memory_fault> fault() const;

  /// Aborts all work of the device: calls the hooks, refuses submissions with 107022, drops what was
  /// accepted in all contexts, lets host threads that wait go with 107022, waits until nothing runs,
  /// and calls the hooks again. Contexts, streams, events and memory stay. Afterwards the device is
  /// usable, or after a memory fault `aborted`: it refuses work with 107022 until `repair`.
  ///
  /// Failures: 107019 naming the streams if work has not ended within `limit`: the device is then as
  /// before, less its work, and a further call goes on; 107022 while another abort is under way or
  /// after one that wants a repair; 507010 for a lost device; 107000 for a bad limit; 507000 for a hook
  /// that threw, after all has been done; 207000 inside kernels and callbacks.
  status abort(timeout limit = forever) const;

  /// Has `hook` called around each abort of this device, in the order of names, on the thread that
  /// aborts and under no lock; a null one takes the hook of that name away, once a call under way is
  /// not waited for. A hook may call the runtime. Failures: 107000 for a name that is taken, empty, or
  /// for null unknown; 207012 at 64 hooks.
  status set_abort_hook(const std::string& name, std::function<void(abort_phase)> hook) const;

  /// Makes a device usable again whose work was aborted after a memory fault; what the fault has
  /// overwritten is for the caller to write anew. Failure: 107000 without such an abort.
  status repair() const;

  // -- figures ------------------------------------------------------------------

  /// How much more may be made here now; others may take it first.
  [[nodiscard]] available_resources available() const;

  [[nodiscard]] compute_info compute() const;
  [[nodiscard]] device_counters counters() const;

  /// What stands behind this handle; for the runtime's own parts.
  [[nodiscard]] const std::shared_ptr<machine>& home() const noexcept { return home_; }
  [[nodiscard]] device_record* record() const noexcept { return record_; }

private:
  std::shared_ptr<machine> home_;
  device_record* record_;
};

} // namespace troupe
