#pragma once

#include <caf/allowed_unsafe_message_type.hpp>

#include "actors/scheduling/actor_base.hpp"
#include "actors/scheduling/reply.hpp"

namespace troupe {

class machine;

/// A task has failed: the listeners are to be told. The notice has ended when it is answered, at
/// which none is told yet, or lost.
struct task_failed {
  status failure;
  reply<status> answer;
};

/// Answered when no listener is being called for a failure that was sent before.
struct settle_notices {
  reply<status> answer;
};

/// Calls the listeners of a runtime, one failure after another, on a thread for callbacks: what they
/// do there holds up no part of a device. Made with the first listener.
class notifier_actor : public actor_base {
public:
  notifier_actor(caf::actor_config& config, machine& home)
      : actor_base(config, lane_id::callback, "notifier"), home_(home) {}

  void on_exit() override;

private:
  caf::behavior handlers() override;

  machine& home_;
};

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::task_failed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::settle_notices)
