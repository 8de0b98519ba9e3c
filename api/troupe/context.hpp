#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/counters.hpp"
#include "core/page_kind.hpp"
#include "core/pool_options.hpp"
#include "core/status.hpp"
#include "troupe/buffer.hpp"
#include "troupe/copy_batch.hpp"
#include "troupe/copy_conversion.hpp"
#include "troupe/copy_request.hpp"
#include "troupe/copy_rows.hpp"
#include "troupe/duration.hpp"
#include "troupe/event.hpp"
#include "troupe/handles.hpp"
#include "troupe/pool.hpp"
#include "troupe/stream.hpp"
#include "troupe/temporary_buffer.hpp"

namespace troupe {

/// How a stream is made. Defaults serve the simple case.
struct stream_options {
  unsigned priority = 4;    ///< 0 (greatest) to 7
  unsigned queue_depth = 0; ///< commands it may hold, 2 to 1,048,576; 0: the runtime's default
};

/// Whether device memory is handed out as it is or set to zero first.
enum class initial : unsigned char { unspecified, cleared };

/// When memory is freed that accepted work may use.
enum class free_mode : unsigned char { at_once, after_device };

/// How a context is made. Defaults serve the simple case.
struct context_options {
  /// What it may use of the device's memory, counted as blocks occupy it, rounding and pools' large
  /// blocks included; beyond it allocations fail with 207001. 0: as much as there is.
  std::uint64_t memory_limit_bytes = 0;
};

/// An isolated working environment on a device: it owns streams, events, memory and error state,
/// and shares the device's engines with other contexts. A failure in one never reaches another.
///
/// A shared handle: when the last handle of a context made by `create_context` goes, it is ended as
/// by `destroy`. Any thread. Calls on an empty handle fail with 107002, on a destroyed context with
/// 507007, after the runtime's shutdown with 100001, and inside kernels and callbacks with 207000.
class context {
public:
  context() noexcept = default;
  explicit context(std::shared_ptr<handles::context_state> state) noexcept
      : state_(std::move(state)) {}

  // -- parts ------------------------------------------------------------------

  /// Failures: 107000 for a priority outside 0 to 7, 207005 at the device's limit of streams.
  [[nodiscard]] result<stream> create_stream(const stream_options& options = {}) const;

  /// The stream for "no stream named". It has no order with other streams and cannot be destroyed.
  [[nodiscard]] result<stream> default_stream() const;

  /// Failure: 207007 at the device's limit of events.
  [[nodiscard]] result<event> create_event() const;

  [[nodiscard]] result<pool> create_pool(const pool_options& options = {}) const;

  // -- memory -----------------------------------------------------------------

  /// Device memory for `count` elements, at a multiple of 512 bytes, or of 2 MiB on huge pages.
  /// Failures: 100000 for 0 elements, 207001 when the device has no hole that large, or not enough
  /// huge pages in a row for `huge_only`, 207018 when the process's memory budget is used up.
  template <class T>
  [[nodiscard]] result<buffer<T>> allocate(std::size_t count,
                                           initial contents = initial::unspecified,
                                           page_kind pages = page_kind::small) const {
    auto got = allocate_bytes(count, sizeof(T), contents, pages);
    if (!got) return got.error();
    return buffer<T>(std::move(got).value());
  }

  /// As `allocate`, of memory that may be taken away while nothing pending uses it: see
  /// `temporary_buffer`.
  template <class T>
  [[nodiscard]] result<temporary_buffer<T>> allocate_temporary(std::size_t count) const {
    auto got = allocate_temporary_bytes(count, sizeof(T));
    if (!got) return got.error();
    return temporary_buffer<T>(std::move(got).value());
  }

  /// As `allocate`, for those who keep no more than an address: `bytes` bytes at a multiple of 512,
  /// to be freed by `free_raw`. What is not is named in the runtime's diagnostics with the place of
  /// its allocation when the context ends, and given back then.
  [[nodiscard]] result<void*> allocate_raw(std::size_t bytes,
                                           initial contents = initial::unspecified,
                                           call_site site = call_site::here()) const;

  /// Frees what `allocate_raw` of this or another context of the same device gave. At once, memory
  /// that accepted work may use is kept aside until that has ended (and the diagnostics name it);
  /// after the device, the call first waits for what all streams of the device have accepted.
  /// Failures, after which nothing has changed: 100000 for null; 107000 for any other address that
  /// is not the start of such a block in use; 107023 when an abort ended the wait.
  status free_raw(void* address, free_mode mode = free_mode::at_once) const;

  /// What this context has of its device's memory, after reuse of what may be reused by now.
  [[nodiscard]] result<context_memory> memory() const;

  /// Copies all of `source` to `target` and returns when that is done. It has no order with any
  /// stream: work in flight may be seen half done. Directions as of `stream::copy`, and host to
  /// host; failures likewise.
  template <class Target, class Source>
  status copy(Target&& target, const Source& source, call_site site = call_site::here()) const {
    return copy_raw(make_copy_request(target, source, site));
  }

  /// As `copy`, for raw memory. The kind is ignored: the two addresses tell the direction.
  status copy_raw(const copy_request& request) const;

  /// As the calls of `stream` with these names, now and with the rules of `copy`: no order with any
  /// stream, the kind ignored, and host to host as well. A batch has one direction here too.
  status copy_2d(const copy_2d_request& request) const;
  status copy_batch(const copy_batch_request& request) const;
  status convert_raw(const convert_request& request) const;
  status fill_2d(const fill_2d_request& request) const;

  template <class Target, class Source>
  status convert(Target&& target, const Source& source, float scale = 1,
                 call_site site = call_site::here()) const {
    return convert_raw(make_convert_request(target, source, scale, site));
  }

  template <class Target>
    requires device_memory<Target>
  status fill(const Target& target, const typename Target::element_type& value,
              call_site site = call_site::here()) const {
    return fill_2d(make_fill_request(target, value, site));
  }

  // -- completion -------------------------------------------------------------

  /// Waits for all streams of this context, the default one included, as `stream::synchronize`
  /// does for one. Reports the first failure, in the order in which they came, of any of them and
  /// of streams that ended by their last handle (of these at most 64, the first, are kept). The
  /// failures of other streams stay for their own synchronise or the next call of this. One limit
  /// for all; a call that ends with 507046 or 107023 takes no failure.
  status synchronize(timeout limit = forever) const;

  // -- control ----------------------------------------------------------------

  /// Makes this the calling thread's current context, until `current::unbind` or another `bind`.
  /// Failure: 207000 in destructors of thread-local objects, once the thread's binding has ended.
  status bind() const;

  /// Ends the context and its events for all their handles: drops its streams' work, releases
  /// waiting host threads with 107023, and gives back its memory as that work ends, and what other
  /// threads copy or clear themselves. Until its work has ended a stream counts against the limit
  /// of the device; one that is idle counts no more. Failures: 107017 if it has ended, 107000 for a
  /// primary context, which ends by `runtime::reset_device`.
  status destroy() const;

  // -- observers --------------------------------------------------------------

  [[nodiscard]] std::uint64_t id() const noexcept;
  [[nodiscard]] std::uint32_t device_index() const noexcept;

  /// Whether work can be done here: success, the failure that ended it in stop mode, or 507007.
  [[nodiscard]] status health() const;

  [[nodiscard]] const std::shared_ptr<handles::context_state>& state() const noexcept {
    return state_;
  }

private:
  [[nodiscard]] result<device_block> allocate_bytes(std::size_t count, std::size_t element_bytes,
                                                    initial contents,
                                                    page_kind pages = page_kind::small) const;
  [[nodiscard]] result<temporary_block> allocate_temporary_bytes(std::size_t count,
                                                                 std::size_t element_bytes) const;

  std::shared_ptr<handles::context_state> state_;
};

} // namespace troupe
