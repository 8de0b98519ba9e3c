#pragma once

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

namespace troupe {

struct dataflow_options {
  unsigned streams = 4;   ///< that may work at once, 1 to 64
  unsigned window = 1024; ///< nodes that may be under way, 1 to 65,536; a submission beyond waits
  unsigned priority = 4;  ///< of the streams, 0 (greatest) to 7
};

struct dataflow_counters {
  std::uint64_t submitted = 0;
  std::uint64_t concluded = 0; ///< known to have ended; the rest is under way
  std::uint64_t failed = 0;    ///< of those: failed themselves,
  std::uint64_t skipped = 0;   ///< or not run since what they read had failed
};

/// Work without streams and events: each node says which tensors it reads and writes, and starts
/// once its inputs are ready; independent nodes run at once. The result is as if nodes ran one after
/// the other in the order of submission: what reads waits for the last writer, what writes for the
/// readers and the writer before it. Memory counts by its bytes: views that overlap are one.
///
/// A node that fails marks all that read what it wrote, directly or not: they are not run, and
/// waits for them tell the first cause. Everything else goes on, and a later write of the same
/// memory makes it good.
///
/// Outputs and scratch memory come from a pool of its own; the memory of tensors that nobody holds
/// any more is used again, in stream order. A handle; one thread at a time. The destructor does not
/// wait: what was submitted still runs.
class dataflow {
public:
  /// Nodes run in `home`. Failures: 107000 for options out of bounds, those of
  /// `context::create_stream`.
  [[nodiscard]] static result<dataflow> make(const context& home,
                                             const dataflow_options& options = {});

  dataflow(dataflow&&) noexcept;
  dataflow& operator=(dataflow&&) noexcept;
  ~dataflow();

  /// Submits an operator, as `run_operator` does. Waits while the window is full, else returns at
  /// once. Failures: those of `run_operator`, 107000 for memory of another context, 207014 when the
  /// window stays full for the runtime's `submit_timeout_ms`; a refused submission has no effect.
  status submit(operator_description what, std::span<const tensor> inputs,
                std::span<const tensor> outputs, call_site site = call_site::here());

  /// The same with an output from the pool, which later nodes may use at once.
  [[nodiscard]] result<tensor> apply(operator_description what, std::span<const tensor> inputs,
                                     call_site site = call_site::here());

  /// Submits any kernel: `kernel()` runs on the device, in one block, and touches the memory of
  /// `reads` and `writes` only; what it reads and writes stands in both. It returns nothing or a
  /// status, and what it captured ends with the node or later.
  template <class Kernel>
  status submit(const task& t, Kernel kernel, std::span<const tensor> reads,
                std::span<const tensor> writes) {
    if constexpr (std::is_void_v<decltype(kernel())>) {
      return submit_kernel(t, [kernel = std::move(kernel)]() mutable {
        kernel();
        return status{};
      }, reads, writes);
    } else {
      return submit_kernel(t, std::move(kernel), reads, writes);
    }
  }

  /// A tensor from the pool, for outputs of later nodes; not initialised.
  [[nodiscard]] result<tensor> make_tensor(tensor_layout layout);

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

  /// Of the pool that outputs and scratch memory come from.
  [[nodiscard]] pool_counters memory() const;

private:
  struct state;
  explicit dataflow(std::unique_ptr<state> made);
  status submit_kernel(const task& t, std::function<status()> kernel,
                       std::span<const tensor> reads, std::span<const tensor> writes);

  std::unique_ptr<state> state_;
};

} // namespace troupe
