#pragma once

#include <cstdint>
#include <memory>

#include "actors/scheduling/completion.hpp"
#include "actors/timeline.hpp"

namespace troupe {

/// How a wait for a number ended.
enum class wait_end : unsigned char {
  reached,     ///< everything up to the number has ended and its effects are visible
  interrupted, ///< the stream was aborted or destroyed by force meanwhile
  expired,     ///< the deadline came first; the work goes on
  let_go,      ///< the simulated run hangs; why, says `waiting_room::why_let_go`
};

/// Waits on the calling client thread until `line` has completed `number`. Holds no lock; lends
/// the thread to control work before it sleeps.
[[nodiscard]] wait_end wait_for_number(waiting_room& room, timeline& line, std::uint64_t number,
                                       time_ns deadline);

} // namespace troupe
