#include "actors/pool_actor.hpp"

#include "actors/device_record.hpp"
#include "actors/scheduling/spawn.hpp"

namespace troupe {

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
  const auto& context = record_->context();
  const auto take = [record = record_, answer = request.answer](result<memory_block> got) {
    const auto& owner = record->context();
    if (got && owner.destroyed()) {
      // It may have come after the context's memory was given back as a whole.
      post(owner.device().memory_keeper,
           free_block{got.value().data, owner.id(), {}, no_reply<status>()});
      got = owner.check_usable();
    }
    if (got) {
      owner.device().memory->attach(got.value().data, record);
      record->add_slab(got.value());
    }
    answer(got.error());
  };
  post(context.device().memory_keeper,
       allocate_block{pool_record::slab_bytes_for(request.bytes), context.id(),
                      reply<result<memory_block>>(take)});
}

void pool_actor::close() {
  const auto& context = record_->context();
  if (context.destroyed()) return; // its memory is given back as a whole
  const auto in_use = context.outstanding();
  for (const auto& slab : record_->surrender()) {
    post(context.device().memory_keeper,
         free_block{slab.data, context.id(), in_use, no_reply<status>()});
  }
}

void pool_actor::on_exit() {
  record_.reset();
  announce_release(this);
}

} // namespace troupe
