#pragma once

#include "actors/scheduling/clock.hpp"

namespace troupe {

class machine;

/// How often a runtime in which things may get lost looks for what a loss has left undone.
inline constexpr time_ns recovery_interval = 500'000'000;

/// Looks for what a lost or late hand-over has left undone, as a driver polls for a lost interrupt,
/// and sees to it by the evidence that the parts themselves hold: a stream that counts as queued
/// but stands in no line, a command that has run but whose end was not published, somebody who
/// waits for a number that has been reached, an engine that works past its time, a deadline that
/// nobody honoured. True if there was anything. Any thread.
bool recover_losses(machine& home);

} // namespace troupe
