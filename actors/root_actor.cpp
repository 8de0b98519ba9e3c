#include "actors/root_actor.hpp"

#include <new>
#include <string>

#include "actors/device_actor.hpp"
#include "actors/device_record.hpp"
#include "actors/machine.hpp"
#include "actors/scheduling/spawn.hpp"

namespace troupe {

root_actor::root_actor(caf::actor_config& config, machine& home)
    : actor_base(config, lane_id::control, "root"), home_(home) {}

caf::behavior root_actor::handlers() {
  return {on<open_device>([this](open_device& m) { m.answer(open(m.index)); })};
}

void root_actor::on_exit() {
  home_.root_died();
  announce_release(this);
}

status root_actor::open(std::uint32_t index) {
  auto& record = home_.device_at(index);
  if (home_.is_open(index)) return {};
  try {
    record.memory = memory_record::create("memory of device " + std::to_string(index),
                                          record.profile().memory_bytes);
  } catch (const std::bad_alloc&) {
    return make_status(code::memory_allocation,
                       "no address space for the " + std::to_string(record.profile().memory_bytes) +
                           " bytes of device " + std::to_string(index));
  }
  if (home_.checks_memory()) {
    record.memory->check_by(std::make_unique<memory_checker>(home_, record.memory->name(),
                                                             record.memory->range().base()));
  }
  record.memory_keeper.begin(spawn_memory_keeper(record));
  record.actor.begin(spawn_device_keeper(record));
  home_.mark_open(index);
  auto alive = home_.check_alive();
  if (!alive.ok()) {
    // The runtime may have ended the devices that it knew of just before.
    record.actor.end();
    record.memory_keeper.end();
  }
  return alive;
}

} // namespace troupe
