#pragma once

#include <cstdint>

#include <caf/allowed_unsafe_message_type.hpp>

#include "actors/scheduling/actor_base.hpp"
#include "actors/scheduling/reply.hpp"

namespace troupe {

class machine;

/// Puts device `index` on stage if it is not there yet. Failures: 207001 if the address space has
/// no room for its memory.
struct open_device {
  std::uint32_t index;
  reply<status> answer;
};

/// The root of a runtime: makes the devices' actors, each when it is first used, so that a program
/// pays for the devices it touches.
class root_actor : public actor_base {
public:
  root_actor(caf::actor_config& config, machine& home);

  void on_exit() override;

private:
  caf::behavior handlers() override;
  status open(std::uint32_t index);

  machine& home_;
};

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::open_device)
