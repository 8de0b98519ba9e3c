#pragma once

#include <cstddef>
#include <cstdint>

#include "core/status.hpp"
#include "troupe/graph.hpp"
#include "troupe/stream.hpp"

/// Capture: between `begin` and `end` what is submitted to a stream becomes a graph and does not
/// run. Other streams are drawn in when they wait for an event that was recorded in the capture, and
/// must be joined to the first by an event before its end.
///
/// Meanwhile, on streams that capture: synchronise, query, abort and destroy give 107027, also
/// `context::synchronize`; query and synchronise of an event recorded there 107028; a copy with
/// ordinary host memory, which would block, 107041. The default stream of the context gives 107031.
/// Blocking copies give 107030 where the mode says so. Calls so refused leave the capture as it was.
namespace troupe::capturing {

/// Where blocking copies are refused while a capture goes on.
enum class mode : unsigned char {
  global,       ///< on all threads but those whose own mode is another
  thread_bound, ///< on the thread that captures
  relaxed,      ///< nowhere; and any thread may end the capture
};

/// Begins a capture on `origin`. Failures besides those of a submission: 207000 for a default
/// stream, 107027 if it captures already, 207008 at the device's limit of streams: a capture counts
/// as one. Any thread.
status begin(const stream& origin, mode how = mode::global);

/// Ends it; the stream then works eagerly again, as do those drawn in. Failures that change nothing:
/// 107029 if the stream does not capture, 107036 if it was only drawn in, 107038 on another thread
/// than the one that began, unless relaxed. Failures that end it without a graph: 507903 if it was
/// spoiled, with the cause; 107025 with the streams that were not joined.
[[nodiscard]] result<graph> end(const stream& origin);

struct info {
  bool active = false;      ///< it captures
  bool invalidated = false; ///< it was spoiled: `end` will say 507903
  bool origin = false;      ///< the capture began on this stream
  std::uint64_t id = 0;     ///< of the capture; 0 for none
  std::size_t nodes = 0;    ///< so far
};

/// What a stream captures. 107017 for an empty handle.
[[nodiscard]] result<info> look(const stream& which);

/// Sets the calling thread's mode (`global` at first) and returns what it was: a thread whose own is
/// `thread_bound` minds no captures of others, one whose own is `relaxed` none at all.
mode exchange_mode(mode how) noexcept;

} // namespace troupe::capturing
