#pragma once

#include <memory>
#include <vector>

#include <caf/allowed_unsafe_message_type.hpp>

#include "actors/context_record.hpp"
#include "actors/pool_record.hpp"
#include "actors/scheduling/actor_base.hpp"
#include "actors/scheduling/reply.hpp"
#include "core/pool_options.hpp"

namespace troupe {

// -- messages -----------------------------------------------------------------

/// Makes a stream of priority 0 (greatest) to 7. Failures: 107000 for another priority, 207005 at
/// the device's limit of streams, 507007 once the context is destroyed.
struct create_stream {
  unsigned priority;
  unsigned queue_depth; ///< 0: the runtime's default
  reply<result<std::shared_ptr<stream_record>>> answer;
};

/// Makes a pool over the device's memory. Failures: 507007 once the context is destroyed.
struct create_pool {
  pool_options options;
  reply<result<std::shared_ptr<pool_record>>> answer;
};

/// Ends the context: refuses everything from now on, drops the streams' work and gives its memory
/// back as that work ends. Failures: 107017 if it was ended before.
struct destroy_context {
  reply<status> answer;
};

// -- the actor ----------------------------------------------------------------

/// The control side of one context: parent of its streams and pools.
class context_actor : public actor_base {
public:
  context_actor(caf::actor_config& config, std::shared_ptr<context_record> record);

  void on_exit() override;
  [[nodiscard]] const char* state_word() const override;

private:
  caf::behavior handlers() override;
  result<std::shared_ptr<stream_record>> make_stream(unsigned priority, unsigned queue_depth);
  result<std::shared_ptr<pool_record>> make_pool(const pool_options& options);
  void report_leaks() const;
  status destroy();

  std::shared_ptr<context_record> record_; // let go at the end
};

/// Makes the record and actor of a stream of `context`; checks only the device: its limit, and
/// whether it is there. The default
/// stream of a context is made this way before the context can be reached.
[[nodiscard]] result<std::shared_ptr<stream_record>> spawn_stream(
    const std::shared_ptr<context_record>& context, unsigned priority, unsigned queue_depth);

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::create_stream)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::create_pool)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::destroy_context)
