#pragma once

#include "core/code.hpp"

namespace troupe::graph_codes {

/// Codes of graphs and capture, by the numbers of the public interface.
using code::capture_dependency; ///< a captured wait for work outside the capture
using code::stream_unjoined; ///< forked streams were not joined
using code::stream_captured; ///< not allowed on a stream that captures
using code::event_captured; ///< not allowed on an event of a capture
using code::stream_not_captured; ///< the stream does not capture
using code::capture_mode; ///< not allowed in this capture mode
using code::capture_implicit; ///< the default stream beside a capture
using code::capture_conflict; ///< would merge two captures
using code::capture_unmatched; ///< not the stream that the capture began on
using code::model_running; ///< the executable graph still runs
using code::capture_wrong_thread; ///< not the thread that began the capture
using code::capture_would_block; ///< an asynchronous call that would block
using code::capture_invalidated; ///< the capture was spoiled

} // namespace troupe::graph_codes
