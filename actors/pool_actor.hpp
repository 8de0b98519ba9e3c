#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <caf/allowed_unsafe_message_type.hpp>

#include "actors/pool_record.hpp"
#include "actors/scheduling/actor_base.hpp"
#include "actors/scheduling/reply.hpp"

namespace troupe {

// -- messages -----------------------------------------------------------------

/// Takes a slab of at least `bytes` from the device. Failures: those of `allocate_block`.
struct grow_pool {
  std::uint64_t bytes;
  reply<status> answer;
};

/// Gives all memory back to the device, as the work that uses it ends, and ends the pool.
struct close_pool {};

/// Posts what gives back to the device what the pools of `context` have beyond their thresholds and
/// nothing uses; what the same thread asks of the device afterwards finds it free. Any thread.
void give_back_surplus(context_record& context);

/// The same for slabs taken from `pool`, which nothing uses.
void give_back_idle(const pool_record& pool, const std::vector<memory_block>& slabs);

/// The same for all memory of a pool that has no blocks in use; else 107000, and nothing changes.
[[nodiscard]] status give_back_unused(pool_record& pool);

/// Posts what gives all memory of `pool` back: what the same thread asks of the device afterwards
/// finds it free, once the work that uses it has ended. Any thread.
void give_back_slabs(pool_record& pool);

// -- the actor ----------------------------------------------------------------

/// The control side of one pool: what takes memory from the device and gives it back.
class pool_actor : public actor_base {
public:
  pool_actor(caf::actor_config& config, std::shared_ptr<pool_record> record);

  void on_exit() override;

private:
  caf::behavior handlers() override;
  void grow(const grow_pool& request);
  void close();

  std::shared_ptr<pool_record> record_; // let go at the end
};

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::grow_pool)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::close_pool)
