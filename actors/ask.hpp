#pragma once

#include <memory>
#include <utility>

#include <caf/actor.hpp>

#include "actors/machine.hpp"
#include "actors/pending_call.hpp"
#include "actors/scheduling/spawn.hpp"
#include "actors/simulation/witness.hpp"

namespace troupe {

/// Sends `target` the message that `make` builds around a reply, and waits for the answer to `call`
/// as `pending_call` does. The wait ends whatever becomes of the message, the actor (see `reply`) or
/// the answer; `unwanted` gives back what a call did for a caller that had gone.
template <class T, class Make>
[[nodiscard]] T ask(machine& home, const caf::actor& target, const char* call, Make&& make,
                    typename pending_answer<T>::give_back unwanted = nullptr) {
  const auto pending =
      std::make_shared<pending_answer<T>>(home, target, call, std::move(unwanted));
  const lending_scope lending(home.room());
  auto* seen = home.seen();
  const auto request = seen != nullptr ? seen->asked() : 0;
  const auto deliver = [pending, seen, request](T answer) {
    if (seen != nullptr) seen->answered(request);
    pending->answer(std::move(answer));
  };
  post(target, make(reply<T>(deliver, [&home] { return home.why_unanswered(); })));
  return pending->result();
}

} // namespace troupe
