#pragma once

#include <cstddef>
#include <string>

#include "actors/faults/channel_count.hpp"

namespace troupe {

/// What a `fault_gate` knows of one actor; under its lock, but for the count. It outlives the actor
/// for as long as somebody waits for an answer of it.
struct attacked_actor {
  channel_count answers;  ///< from it to clients, however late they are given
  std::string killed_by;  ///< the entry of the plan; empty: none
  std::string held_by;    ///< the entry that held up a message to it last
  std::size_t held = 0;   ///< messages, or lines of them, that are held up now
};

} // namespace troupe
