#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <gsl/gsl>

#include "core/diagnostic.hpp"
#include "core/kernel_registry.hpp"
#include "core/runtime_options.hpp"
#include "core/status.hpp"
#include "troupe/buffer.hpp"
#include "troupe/context.hpp"
#include "troupe/device.hpp"
#include "troupe/event.hpp"
#include "troupe/handles.hpp"
#include "troupe/registered_memory.hpp"

namespace troupe {

/// A runtime: a set of devices and the threads that work for them. Several may live in one process;
/// they share nothing but the process's memory budget. Threads start with the first device used.
///
/// The destructor refuses new work, drops what is pending (see option `drain_ms`; synchronise first
/// to keep it), and returns within three times the option `stop_bound_ms` plus `drain_ms` whatever
/// kernels do; where the machine is too busy to run the runtime's own threads, it waits for them.
/// Inside a kernel or host callback, or as one ends with what it captured, nobody may wait: there it
/// drops what is pending and leaves the threads and memory behind for good. Handles that outlive the
/// runtime stay safe: their calls fail with 100001, and so do those of a runtime object that was
/// moved from. Any thread, but the destructor and a move only when no other thread uses the object.
///
/// In a child process forked after a device was used, every call fails at once with 207000; what
/// has no status to return (counters, failures, diagnostics) comes back empty. The child can make
/// a runtime of its own.
class runtime {
public:
  // -- making -----------------------------------------------------------------

  /// A runtime with the defaults, changed by environment variables (see `apply_environment`).
  /// Throws `troupe::error` if one of these is wrong.
  runtime();

  /// A runtime with just these options. Throws `troupe::error` (107000) naming a bad one, and like
  /// the others if `TROUPE_FAULT_PLAN` names a plan that cannot be read or is wrong.
  explicit runtime(runtime_options options);

  /// The same without throwing; `use_environment` lets environment variables change `options`.
  [[nodiscard]] static result<runtime> create(runtime_options options = {},
                                              bool use_environment = false);

  runtime(runtime&&) noexcept = default;
  runtime& operator=(runtime&& other) noexcept;
  ~runtime();

  // -- devices ----------------------------------------------------------------

  [[nodiscard]] std::size_t device_count() const noexcept;

  /// Device `index`, from 0. Failures: 107001 for an index that does not exist, 207001 when the
  /// address space has no room for its memory, 207005 when the system refuses a thread, 100001
  /// after shutdown, 207000 in a forked child and inside kernels and callbacks.
  [[nodiscard]] result<troupe::device> device(std::int64_t index) const;

  /// The profile of device `index` without using the device. Failure: 107001.
  [[nodiscard]] result<device_profile> profile(std::int64_t index) const;

  /// What device `index` is good for, without using it: `starting` while the first call that does is
  /// under way. Failures: 107001, 100001 for a runtime that was moved from.
  [[nodiscard]] result<device_health> health(std::int64_t index) const;

  /// The device with the fewest streams at or waiting for its engines; among equals the one with
  /// the fewest streams, then the lowest index. A snapshot, as others submit meanwhile.
  [[nodiscard]] result<troupe::device> least_loaded() const;

  // -- the thread's current device --------------------------------------------

  /// Takes a use of device `index`'s shared primary context and makes it the calling thread's
  /// current one. Counted: each call wants a `reset_device`. Failures: as `device`, and as
  /// `context::bind`.
  status set_device(std::int64_t index) const;

  /// Gives back one use of the primary context, or by `force` all. The last one waits for the
  /// context's work and ends it; where it was the calling thread's current one, that thread has
  /// none then. Failures: 507007 when there is no use to give back, 107001; and
  /// what `context::synchronize` reports of the work waited for: the context has ended all the
  /// same.
  status reset_device(std::int64_t index, bool force = false) const;

  // -- things that belong to no device ----------------------------------------

  /// Pinned host memory for `count` elements. Failures: 100000 for 0 elements, 207001, 207018.
  template <class T>
  [[nodiscard]] result<host_buffer<T>> allocate_host(std::size_t count) const {
    auto got = allocate_host_bytes(count, sizeof(T));
    if (!got) return got.error();
    return host_buffer<T>(std::move(got).value());
  }

  /// `context::free_raw` for those who keep the address and not whose it is: of whichever context,
  /// with none that is current. Failures besides: 107000 for an address in no device's memory.
  status free_raw(void* address, free_mode mode = free_mode::at_once) const;

  /// Has the devices reach host memory of the program's own directly, until the handle ends: see
  /// `registered_memory`. Failures: 100000 for null or 0 elements, 107000 when some of it is registered
  /// already, or belongs to this runtime's devices or pinned memory.
  template <class T>
  [[nodiscard]] result<registered_memory> register_host(gsl::span<T> memory) const {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>, "devices move bytes");
    return register_host(memory.data(), memory.size_bytes());
  }
  /// The same for those who know but the address.
  [[nodiscard]] result<registered_memory> register_host(void* address, std::size_t bytes) const;

  /// A ticket that the host completes. A moved-from runtime gives an empty one.
  [[nodiscard]] signal create_signal() const;

  /// Makes `kernel` available to `stream::launch_by_name` under `name`. Parameters as of
  /// `stream::launch`, values of at most 16 plain bytes. It is called from several threads at once.
  /// Failures: 507028 when the name is taken, 107000 when it is empty.
  template <class Kernel>
  status register_kernel(std::string name, Kernel kernel) const {
    return add_kernel(make_kernel_entry(std::move(name), std::move(kernel)));
  }

  // -- failures of tasks --------------------------------------------------------

  /// Has `listener` called with the record of each task that fails from now on: code, message, device,
  /// context, stream, task, submitting thread. One failure after another in the order in which they
  /// came, on a thread for callbacks, under no lock; while one call takes long at most 1,024 wait, and
  /// further ones are missed. What it throws is ignored; calls of the runtime that are refused in
  /// callbacks are refused there. The number is for `remove_failure_listener`. Failures: 100000 for a
  /// null one, 207012 at 16 listeners, those of starting the runtime.
  [[nodiscard]] result<std::uint64_t> add_failure_listener(
      std::function<void(const error_record&)> listener) const;

  /// The listener is called no more. With `wait` a call that is under way has ended on return (107019
  /// after `control_timeout_ms`); without, it may go on. Failures: 107017 for a number not in use,
  /// 207000 inside kernels and callbacks.
  status remove_failure_listener(std::uint64_t number, bool wait = false) const;

  // -- observers --------------------------------------------------------------

  [[nodiscard]] const runtime_options& options() const noexcept;

  /// Legal but most likely mistaken things that programs did with this runtime, at most 1,024; also
  /// environment variables with its prefix that mean nothing to it.
  [[nodiscard]] std::vector<diagnostic> diagnostics() const;

  /// Figures of the pinned host memory.
  [[nodiscard]] result<memory_info> host_memory() const;

  // -- the end ----------------------------------------------------------------

  /// What the destructor does, with its outcome: 507000 naming threads that are still in user code
  /// (what these use is kept for them). A further call, from any thread, waits for the first and
  /// returns the same. Refused inside kernels and callbacks (207000).
  status shutdown();

private:
  friend struct runtime_maker; // makes simulated ones

  explicit runtime(std::shared_ptr<machine> home) noexcept;

  [[nodiscard]] result<host_block> allocate_host_bytes(std::size_t count,
                                                       std::size_t element_bytes) const;
  status add_kernel(kernel_entry entry) const;

  std::shared_ptr<machine> home_;
};

} // namespace troupe
