#include "actors/pool_actor.hpp"

#include <string>
#include <vector>

#include "actors/device_record.hpp"
#include "actors/machine.hpp"
#include "actors/scheduling/spawn.hpp"

namespace troupe {

namespace {

void free_slab(const context_record& owner, const memory_block& slab, const frontier& in_use) {
  const auto& device = owner.device();
  post_free(device.memory_keeper, device.memory, slab.data, owner.id(), in_use);
}

// What the memory actor has handed out becomes a slab, unless the pool is not to have it any more.
status take_in(const std::shared_ptr<pool_record>& pool, const memory_block& slab) {
  const auto& owner = pool->context();
  owner.device().memory->attach(slab.data, pool);
  // It may have come after the context's memory was given back as a whole, or the pool's.
  if (!owner.destroyed() && pool->add_slab(slab)) return {};
  free_slab(owner, slab, {});
  if (owner.destroyed()) return owner.check_usable();
  return make_status(code::invalid_handle, "the pool of context " + std::to_string(owner.id()) +
                                               " has been closed");
}

// For want of room the pool first gives back the slabs that it does not use, and asks once more.
void ask_for_slab(const std::shared_ptr<pool_record>& pool, std::uint64_t bytes,
                  const reply<status>& answer, bool again = false) {
  const auto take = [pool, bytes, answer, again](result<memory_block> got) {
    if (got) return answer(take_in(pool, got.value()));
    const bool no_room = got.code() == code::memory_allocation ||
                         got.code() == code::device_out_of_memory;
    const auto idle = no_room && !again ? pool->take_idle() : std::vector<memory_block>{};
    if (idle.empty()) return answer(got.error());
    give_back_idle(*pool, idle);
    ask_for_slab(pool, bytes, answer, true);
  };
  const auto& owner = pool->context();
  post(owner.device().memory_keeper,
       allocate_block{bytes, owner.id(),
                      reply<result<memory_block>>(take, [&home = owner.home()] {
                        return home.why_unanswered();
                      })});
}

} // namespace

void give_back_idle(const pool_record& pool, const std::vector<memory_block>& slabs) {
  if (pool.context().destroyed()) return; // its memory is given back as a whole
  for (const auto& each : slabs) free_slab(pool.context(), each, {});
}

// Noted again by the pools that have more which is still at work.
void give_back_surplus(context_record& context) {
  if (!context.take_surplus()) return;
  for (const auto& pool : context.pools()) give_back_idle(*pool, pool->take_surplus());
}

status give_back_unused(pool_record& pool) {
  const auto slabs = pool.surrender_unused();
  if (!slabs) return slabs.error();
  const auto& context = pool.context();
  if (context.destroyed()) return {};
  const auto in_use = context.outstanding();
  for (const auto& slab : slabs.value()) free_slab(context, slab, in_use);
  return {};
}

void give_back_slabs(pool_record& pool) {
  const auto& context = pool.context();
  if (context.destroyed()) return; // its memory is given back as a whole
  const auto in_use = context.outstanding();
  for (const auto& slab : pool.surrender()) free_slab(context, slab, in_use);
}

pool_actor::pool_actor(caf::actor_config& config, std::shared_ptr<pool_record> record)
    : actor_base(config, lane_id::control, "pool"), record_(std::move(record)) {}

caf::behavior pool_actor::handlers() {
  return {
      on<grow_pool>([this](grow_pool& m) { grow(m); }),
      on<close_pool>([this](close_pool&) {
        close();
        quit();
      }),
  };
}

// The answer goes straight from the memory actor to whoever waits; the pool actor does not wait.
void pool_actor::grow(const grow_pool& request) {
  ask_for_slab(record_, record_->slab_bytes_for(request.bytes), request.answer);
}

void pool_actor::close() {
  give_back_slabs(*record_);
}

void pool_actor::on_exit() {
  record_.reset();
  announce_release(this);
}

} // namespace troupe
