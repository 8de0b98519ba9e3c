#pragma once

#include <memory>
#include <optional>
#include <utility>

#include <caf/actor.hpp>

#include "actors/scheduling/completion.hpp"
#include "actors/scheduling/reply.hpp"
#include "actors/scheduling/spawn.hpp"
#include "actors/simulation/witness.hpp"

namespace troupe {

/// Sends `target` the message that `make` builds around a reply, and waits for the answer on the
/// calling client thread, which runs control work meanwhile. The wait ends whatever happens to the
/// message or the actor (see `reply`).
template <class T, class Make>
[[nodiscard]] T ask(waiting_room& room, const caf::actor& target, Make&& make) {
  struct pending {
    completion point;
    std::optional<T> answer;

    static bool ready(const void* self) {
      return static_cast<const pending*>(self)->point.is_set();
    }
  };
  const auto state = std::make_shared<pending>();
  const lending_scope lending(room);
  auto* seen = room.seen();
  const auto request = seen != nullptr ? seen->asked() : 0;
  post(target, make(reply<T>([state, seen, request](T answer) {
         if (seen != nullptr) seen->answered(request);
         state->answer.emplace(std::move(answer));
         state->point.set();
       })));
  if (!room.poll_for({&pending::ready, state.get()}, never_ns)) {
    (void)room.sleep_on(state->point, never_ns);
  }
  return std::move(*state->answer);
}

} // namespace troupe
