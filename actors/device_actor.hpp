#pragma once

#include <cstdint>
#include <memory>

#include <caf/allowed_unsafe_message_type.hpp>

#include "actors/scheduling/actor_base.hpp"
#include "actors/scheduling/reply.hpp"

namespace troupe {

class context_record;
class device_record;

// -- messages -----------------------------------------------------------------

using context_reply = reply<result<std::shared_ptr<context_record>>>;

/// Makes a context of the caller's own, which may use `memory_limit_bytes` of the device's memory;
/// 0: as much as there is.
struct create_context {
  std::uint64_t memory_limit_bytes;
  context_reply answer;
};

/// Takes a use of the device's shared primary context, made at the first use.
struct retain_primary {
  context_reply answer;
};

/// Gives back one use of the primary context, or all of them by force. The last one ends it.
/// Answers with the context if it is to end: the caller then waits for its work and destroys it.
/// Failures: 507007 when there is no use to give back.
struct release_primary {
  bool force;
  context_reply answer; ///< a null context: still in use
};

// -- the actor ----------------------------------------------------------------

/// The control side of one device: parent of its contexts, keeper of the primary one.
class device_actor : public actor_base {
public:
  device_actor(caf::actor_config& config, device_record& record);

  void on_exit() override;

private:
  caf::behavior handlers() override;
  void start_again(const status& why) override;
  result<std::shared_ptr<context_record>> make_context(bool primary,
                                                       std::uint64_t memory_limit_bytes = 0);
  result<std::shared_ptr<context_record>> retain();
  result<std::shared_ptr<context_record>> release(bool force);

  device_record& record_;
  std::weak_ptr<context_record> primary_;
  std::uint64_t primary_uses_ = 0;
};

/// Makes the two actors that keep a device: this one, and that of its memory.
[[nodiscard]] caf::actor spawn_device_keeper(device_record& device);
[[nodiscard]] caf::actor spawn_memory_keeper(device_record& device);

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::create_context)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::retain_primary)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::release_primary)
