#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "core/call_site.hpp"
#include "core/operators/operator_description.hpp"
#include "core/task.hpp"
#include "troupe/context.hpp"
#include "troupe/operators/tensor.hpp"
#include "troupe/runtime.hpp"

namespace troupe {

struct dataflow_options {
  unsigned streams = 4;   ///< that may work at once on each device, 1 to 64
  unsigned window = 1024; ///< nodes that may be under way, 1 to 65,536; a submission beyond waits.
                          ///< Copies between devices count, and come with their node beyond it
  unsigned priority = 4;  ///< of the streams, 0 (greatest) to 7
};

struct dataflow_counters {
  std::uint64_t submitted = 0;
  std::uint64_t concluded = 0; ///< known to have ended; the rest is under way
  std::uint64_t failed = 0;    ///< of those: failed themselves,
  std::uint64_t skipped = 0;   ///< or not run since what they read had failed
  std::uint64_t copies = 0;    ///< made between devices, for nodes and back
  std::uint64_t copied_bytes = 0;
};

/// Where the tensors of a node lie on the device that it runs on, in the order in which they were
/// named.
struct node_memory {
  std::span<const std::byte* const> reads;
  std::span<std::byte* const> writes;
};

/// Work without streams and events: each node says which tensors it reads and writes, and starts
/// once its inputs are ready; independent nodes run at once. The result is as if nodes ran one after
/// the other in the order of submission: what reads waits for the last writer, what writes for the
/// readers and the writer before it. Memory counts by its bytes: views that overlap are one.
///
/// A node that fails marks all that read what it wrote, directly or not: they are not run, and
/// waits for them tell the first cause. Everything else goes on, and a later node that writes the
/// same memory makes it good; what it holds till then nobody knows. Another tensor that comes to lie
/// there once its own is gone has no part in that (a view has: nobody can tell whose it was).
///
/// Outputs and scratch memory come from pools of its own; the memory of tensors that nobody holds
/// any more is used again, in stream order. A handle; one thread at a time. The destructor does not
/// wait: what was submitted still runs.
///
/// Over several devices a node runs where most bytes of its tensors lie, unless there it would wait
/// for two commands more than on the least loaded device, not counting those that it depends on:
/// then on that one. What it reads is copied there if it is not there yet, and what it writes is
/// copied back to the tensor's own memory behind it: waits and failures are those of one device.
/// A copy serves later nodes until the tensor is written, or all nodes that use the copy have ended,
/// as the program may write the tensor itself then; those of outputs of `apply` and of `constant`
/// tensors serve as long as the tensor lives and there is room. One of a view serves the node that it
/// was made for alone, as nobody can tell how long its memory is the same.
class dataflow {
public:
  /// Nodes run in `home`. Failures: 107000 for options out of bounds, those of
  /// `context::create_stream` and `context::create_pool`.
  [[nodiscard]] static result<dataflow> make(const context& home,
                                             const dataflow_options& options = {});

  /// Nodes run in any of `homes`, whose memory tensors may have. Failures also: 107000 for none, for
  /// contexts of several runtimes, or one that comes twice.
  [[nodiscard]] static result<dataflow> make(std::span<const context> homes,
                                             const dataflow_options& options = {});

  /// The same in a new context on each of these devices of `on`, by number; on all if none is named.
  /// Failures also: those of `runtime::device` and `device::create_context`.
  [[nodiscard]] static result<dataflow> make(const runtime& on,
                                             std::span<const std::int64_t> devices = {},
                                             const dataflow_options& options = {});

  dataflow(dataflow&&) noexcept;
  dataflow& operator=(dataflow&&) noexcept;
  ~dataflow();

  /// Submits an operator, as `run_operator` does. Waits while the window is full, else returns at
  /// once. Failures: those of `run_operator`, 107000 for memory of other contexts, 207014 when the
  /// window stays full for the runtime's `submit_timeout_ms`; a refused submission has no effect.
  status submit(operator_description what, std::span<const tensor> inputs,
                std::span<const tensor> outputs, call_site site = call_site::here());

  /// The same with an output from the pool of the device that it runs on, which later nodes may use
  /// at once, on any device. With several devices nobody but nodes may write it.
  [[nodiscard]] result<tensor> apply(operator_description what, std::span<const tensor> inputs,
                                     call_site site = call_site::here());

  /// Submits any kernel: `kernel()` runs on the device, in one block, and touches the memory of
  /// `reads` and `writes` only; what it reads and writes stands in both. It returns nothing or a
  /// status, and what it captured ends with the node or later. As it knows the tensors by their
  /// own memory, it runs where that lies: 107000 if it lies on several devices.
  ///
  /// A `kernel(const node_memory&)` is told where they lie and may run on any device: it writes
  /// all bytes of `writes` that do not stand in `reads` as well, or they hold anything afterwards.
  template <class Kernel>
  status submit(const task& t, Kernel kernel, std::span<const tensor> reads,
                std::span<const tensor> writes) {
    if constexpr (std::is_invocable_v<Kernel&, const node_memory&>) {
      return submit_movable(t, [kernel = std::move(kernel)](const node_memory& at) mutable {
        if constexpr (std::is_void_v<decltype(kernel(at))>) {
          kernel(at);
          return status{};
        } else {
          return kernel(at);
        }
      }, reads, writes);
    } else if constexpr (std::is_void_v<decltype(kernel())>) {
      return submit_kernel(t, [kernel = std::move(kernel)]() mutable {
        kernel();
        return status{};
      }, reads, writes);
    } else {
      return submit_kernel(t, std::move(kernel), reads, writes);
    }
  }

  /// A tensor from the pool of the device `place`, counted from 0 in the order in which they were
  /// named, for outputs of later nodes; not initialised. 107000 for a place that is not there.
  [[nodiscard]] result<tensor> make_tensor(tensor_layout layout, std::size_t place = 0);

  /// Promises that nobody writes `what` but nodes, as of weights: copies of it on other devices then
  /// serve as long as it lives. No effect with one device. 107000 for an empty tensor or memory of
  /// other contexts, 207000 for a view, of which nobody knows how long its memory lives.
  status constant(const tensor& what);

  /// Later nodes begin once `e`'s last record has been reached. Failures: those of `stream::wait`.
  status after(const event& e, call_site site = call_site::here());

  /// Waits until what the submitted nodes write to `of` is there; its effects are then visible to
  /// the caller. Fails with the failure of the node that wrote it: its own, or if it was not run
  /// one of the same code whose record has the first cause. That stays, and every wait tells it.
  /// Further failures: 507046 at the limit, 107000 for a bad limit, and why the work was dropped.
  status wait(const tensor& of, timeout limit = forever);

  /// Waits for everything submitted. Reports the first failure since the last report, once.
  status wait_all(timeout limit = forever);

  [[nodiscard]] dataflow_counters counters() const;

  /// How many devices, or contexts, its nodes run in.
  [[nodiscard]] std::size_t places() const;

  /// Of the pool that outputs, copies and scratch memory on the device `place` come from; zeros for a
  /// place that is not there.
  [[nodiscard]] pool_counters memory(std::size_t place = 0) const;

private:
  struct state;
  explicit dataflow(std::unique_ptr<state> made);
  status submit_kernel(const task& t, std::function<status()> kernel,
                       std::span<const tensor> reads, std::span<const tensor> writes);
  status submit_movable(const task& t, std::function<status(const node_memory&)> kernel,
                        std::span<const tensor> reads, std::span<const tensor> writes);

  std::unique_ptr<state> state_;
};

} // namespace troupe
