#pragma once

#include <caf/actor.hpp>
#include <caf/actor_config.hpp>
#include <caf/actor_system.hpp>
#include <caf/execution_unit.hpp>
#include <caf/make_actor.hpp>
#include <caf/monitorable_actor.hpp>

namespace troupe {

/// CAF wants a printing actor; ours says nothing.
class silent_printer final : public caf::monitorable_actor {
public:
  explicit silent_printer(caf::actor_config& config) : caf::monitorable_actor(config) {}
  void enqueue(caf::mailbox_element_ptr, caf::execution_unit*) override {}

  [[nodiscard]] static caf::actor make(caf::actor_system& system, caf::execution_unit& here) {
    caf::actor_config config{&here};
    return caf::make_actor<silent_printer, caf::actor>(system.next_actor_id(), system.node(),
                                                       &system, config);
  }
};

} // namespace troupe
