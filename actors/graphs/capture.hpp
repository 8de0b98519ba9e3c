#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/command.hpp"
#include "core/graphs/graph_ir.hpp"
#include "core/status.hpp"

namespace troupe {

class context_record;
class stream_record;

/// Which calls a capture refuses elsewhere, as unsafe while it goes on (blocking copies and fills).
enum class capture_mode : unsigned char {
  global,        ///< on all threads, unless they exchanged their own mode
  thread_local_, ///< on the thread that captures
  relaxed,       ///< nowhere
};

enum class capture_status : unsigned char {
  none,        ///< the stream does not capture
  active,      ///< what is submitted becomes nodes
  invalidated, ///< something inside failed: the end will tell so
};

/// Captures in progress, of all runtimes of the process: what is submitted to a stream that
/// captures becomes a node of a graph, after the nodes that were last on that stream. Each stream
/// has its *frontier*, the nodes that what comes next is to follow; an event recorded there takes
/// the frontier along, and a stream that waits for it joins the capture.
///
/// One lock for all; while nothing captures, a call costs one relaxed load. Any thread. A refused
/// call changes nothing and spoils nothing; work that cannot become a node spoils the capture.
class capture {
public:
  /// Whether anything captures at all.
  [[nodiscard]] static bool any() noexcept { return active.load(std::memory_order_relaxed) != 0; }

  /// Begins at `origin`. Failures: 207000 for a default stream, 107027 if it captures already,
  /// 207008 when the device has no stream left: a capture holds one until it ends.
  static status begin(const std::shared_ptr<stream_record>& origin, capture_mode mode);

  struct captured {
    graph_ir graph;
    std::uint64_t context;
  };
  /// Ends it and returns the graph. Failures that change nothing: 107029 if the stream does not
  /// capture, 107036 if it only joined, 107038 on another thread than the one that began, unless
  /// relaxed. Failures that end it without a graph: 507903 if it was spoiled (the cause is below),
  /// 107025 naming the streams that were not joined.
  [[nodiscard]] static result<captured> end(const stream_record& origin);

  struct state {
    capture_status status = capture_status::none;
    std::uint64_t id = 0;
    std::size_t nodes = 0;
    bool origin = false; ///< whether it began on this stream
  };
  [[nodiscard]] static state look(const stream_record& stream);

  /// Sets the calling thread's mode, `global` at first, and returns what it was.
  static capture_mode exchange_mode(capture_mode mode) noexcept;

  // -- what calls ask; where they ask `any` first, it saves making what they ask with -------------

  /// Takes `work` as a node if `target` captures, else nothing. 107031 for the default stream of a
  /// context with a capture.
  [[nodiscard]] static std::optional<status> take(stream_record& target, graph_node work);

  /// The same for `c`, which else is as it was.
  [[nodiscard]] static std::optional<status> take(stream_record& target, command& c);

  /// Submits `c`, or takes it as a node.
  static status submit(stream_record& target, command&& c);

  /// 107027 if the stream captures; what `call` would do makes no sense then.
  [[nodiscard]] static status refuse_on(const stream_record& stream, const char* call) {
    return any() ? refusal_on(stream, call) : status{};
  }

  /// 107027 if any stream of the context does.
  [[nodiscard]] static status refuse_in(const context_record& context, const char* call) {
    return any() ? refusal_in(context, call) : status{};
  }

  /// 107028 if the event's last record is of a capture.
  [[nodiscard]] static status refuse_event(const void* event, const char* call) {
    return any() ? refusal_of_event(event, call) : status{};
  }

  /// 107030 if a capture forbids unsafe calls on this thread.
  [[nodiscard]] static status refuse_unsafe(const char* call) {
    return any() ? refusal_of_unsafe(call) : status{};
  }

  /// A record of `event` on `stream`: nothing if that does not capture; then an earlier record in a
  /// capture counts no more.
  [[nodiscard]] static std::optional<status> record(const void* event, stream_record& stream);

  /// A wait of `stream` for `event`: nothing if neither captures. `recorded` tells whether the event
  /// has a record outside of captures. 107024 for a captured wait on work outside, 107032 when it
  /// would merge two captures, 107031 when the default stream would join.
  [[nodiscard]] static std::optional<status> wait(const void* event, bool recorded,
                                                  const std::shared_ptr<stream_record>& stream);

private:
  static status refusal_on(const stream_record& stream, const char* call);
  static status refusal_in(const context_record& context, const char* call);
  static status refusal_of_event(const void* event, const char* call);
  static status refusal_of_unsafe(const char* call);

  static std::atomic<std::uint32_t> active;
};

} // namespace troupe
