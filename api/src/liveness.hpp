#pragma once

#include <string>

#include "actors/simulation/simulation.hpp"
#include "troupe/runtime.hpp"

namespace troupe::testing {

/// Stops the faults of `runtime` and has each of its devices in use do a fixed piece of work, off
/// the record and in a bounded number of steps. A device that does not manage it is reset (all its
/// contexts are destroyed by force) and gets a second try. Why one could not, or an empty text. By
/// the client of `play` that is left.
[[nodiscard]] std::string try_devices(simulation& play, runtime& runtime);

} // namespace troupe::testing
