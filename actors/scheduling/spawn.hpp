#pragma once

#include <utility>

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/logger.hpp>
#include <caf/send.hpp>
#include <gsl/gsl>

#include "actors/scheduling/stage_config.hpp"
#include "actors/scheduling/wire.hpp"

namespace troupe {

/// Takes back the share of the system's logger that CAF leaves with a thread which made the system
/// or an actor. The system's end waits for all shares, and clients' threads may live on; and the
/// main thread's share ends before a runtime that is a static object does.
inline void let_go_of_logger() { caf::logger::set_current_actor_system(nullptr); }

/// Makes every actor of the cast: the one place where a run decides which class stands on stage,
/// the plain one, or a wired one when messages are to be watched or attacked. Any thread. The actor
/// is not scheduled before its first message.
template <class Impl, class... Args>
[[nodiscard]] caf::actor spawn_actor(caf::actor_system& system, Args&&... args) {
  const auto at_end = gsl::finally(&let_go_of_logger);
  const auto* config = dynamic_cast<const stage_config*>(&system.config());
  if (config != nullptr && config->messages_pass != nullptr) {
    return system.spawn<wired<Impl>, caf::lazy_init>(std::ref(*config->messages_pass),
                                                     std::forward<Args>(args)...);
  }
  return system.spawn<Impl, caf::lazy_init>(std::forward<Args>(args)...);
}

/// Sends `message` to `target` on behalf of nobody. Any thread.
template <class Message>
void post(const caf::actor& target, Message message) {
  caf::anon_send(target, std::move(message));
}

} // namespace troupe
