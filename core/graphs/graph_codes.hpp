#pragma once

#include "core/code.hpp"

namespace troupe::graph_codes {

/// Codes of graphs and capture, by the numbers of the public interface.
inline constexpr code capture_dependency{107024};   ///< a captured wait for work outside the capture
inline constexpr code stream_unjoined{107025};      ///< forked streams were not joined
inline constexpr code stream_captured{107027};      ///< not allowed on a stream that captures
inline constexpr code event_captured{107028};       ///< not allowed on an event of a capture
inline constexpr code stream_not_captured{107029};  ///< the stream does not capture
inline constexpr code capture_mode{107030};         ///< not allowed in this capture mode
inline constexpr code capture_implicit{107031};     ///< the default stream beside a capture
inline constexpr code capture_conflict{107032};     ///< would merge two captures
inline constexpr code capture_unmatched{107036};    ///< not the stream that the capture began on
inline constexpr code model_running{107037};        ///< the executable graph still runs
inline constexpr code capture_wrong_thread{107038}; ///< not the thread that began the capture
inline constexpr code capture_would_block{107041};  ///< an asynchronous call that would block
inline constexpr code capture_invalidated{507903};  ///< the capture was spoiled

} // namespace troupe::graph_codes
