#pragma once

#include <cstddef>

#include <caf/resumable.hpp>

namespace caf {
class execution_unit;
} // namespace caf

namespace troupe {

/// Resumes `job` for at most `messages_max` messages and, unless it has more to do, gives back the
/// scheduler's reference. True if it has more to do: the caller then queues it again.
[[nodiscard]] bool run_job(caf::resumable* job, caf::execution_unit& here,
                           std::size_t messages_max);

/// Tells ThreadSanitizer that the caller looks at `job` no more; for actors of the cast.
void announce_queued(caf::resumable* job);

/// The actor of the cast behind `job`; null for CAF's own helpers.
class actor_base;
[[nodiscard]] actor_base* cast_member(caf::resumable* job);

} // namespace troupe
