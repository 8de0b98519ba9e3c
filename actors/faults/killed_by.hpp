#pragma once

#include <string>

#include <caf/actor.hpp>

#include "core/status.hpp"

namespace troupe {

class machine;
class stream_record;

/// The entry of the plan that killed the actor, which may have ended since; empty if none did.
[[nodiscard]] std::string killed_by(const machine& home, const caf::actor& who);

/// `failed`, naming that entry unless it names one already. Successes stay what they are.
[[nodiscard]] status blamed_on_death(status failed, const machine& home, const caf::actor& who);

/// 107017: the stream has ended, by the program or by a fault, which is named then.
[[nodiscard]] status destroyed(const stream_record& stream);

} // namespace troupe
