#pragma once

#include <caf/actor_system_config.hpp>

namespace troupe {

class wire;

/// CAF's configuration with ours beside it: how actors find the wire that their messages pass.
class stage_config : public caf::actor_system_config {
public:
  wire* messages_pass = nullptr; ///< null: actors are plain ones, messages pass nothing
};

} // namespace troupe
