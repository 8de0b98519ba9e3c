#include "actors/device_actor.hpp"

#include <string>

#include "actors/context_actor.hpp"
#include "actors/device_record.hpp"
#include "actors/machine.hpp"
#include "actors/scheduling/spawn.hpp"

namespace troupe {
namespace {

// Priority of a context's default stream: in the middle, so that others can go before and after.
constexpr unsigned default_stream_priority = 4;

} // namespace

device_actor::device_actor(caf::actor_config& config, device_record& record)
    : actor_base(config, lane_id::control, "device"), record_(record) {}

void device_actor::on_exit() {
  record_.keeper_died(record_.actor, *this);
  announce_release(this);
}

caf::actor spawn_device_keeper(device_record& device) {
  return spawn_actor<device_actor>(device.home().system(), std::ref(device));
}

caf::actor spawn_memory_keeper(device_record& device) {
  auto& home = device.home();
  return spawn_actor<memory_actor>(
      home.system(), std::ref(home), device.memory, home.budget_bytes(),
      [&device](const actor_base& who) { device.keeper_died(device.memory_keeper, who); });
}

caf::behavior device_actor::handlers() {
  return {
      on<create_context>([this](create_context& m) {
        m.answer(make_context(false, m.memory_limit_bytes));
      }),
      on<retain_primary>([this](retain_primary& m) { m.answer(retain()); }),
      on<release_primary>([this](release_primary& m) { m.answer(release(m.force)); }),
  };
}

result<std::shared_ptr<context_record>> device_actor::make_context(
    bool primary, std::uint64_t memory_limit_bytes) {
  auto& home = record_.home();
  auto made = std::make_shared<context_record>(home, record_, home.next_context_id(), primary);
  auto stream = spawn_stream(made, default_stream_priority, 0);
  if (!stream) return stream.error();
  made->set_default_stream(std::move(stream).value());
  if (memory_limit_bytes != 0) record_.memory->limit(made->id(), memory_limit_bytes);
  made->actor = spawn_actor<context_actor>(home.system(), made);
  record_.add(made);
  // The device may have been lost before that, and its contexts looked through.
  if (auto s = record_.check_present(); !s.ok()) (void)made->poison_by(s);
  // So may the runtime have ended, which then did not end this one.
  if (auto s = home.check_alive(); !s.ok()) {
    post(made->actor, destroy_context{no_reply<status>()});
    return s;
  }
  return made;
}

// How often the primary context is used nobody else knows: it ends, and those who use it learn why.
void device_actor::start_again(const status& why) {
  const auto held = primary_.lock();
  primary_.reset();
  primary_uses_ = 0;
  if (!held) return;
  if (held->poison_by(why)) held->drop_poisoned();
  post(held->actor, destroy_context{no_reply<status>()});
}

result<std::shared_ptr<context_record>> device_actor::retain() {
  if (auto s = record_.check_present(); !s.ok()) return s;
  auto held = primary_.lock();
  if (!held || held->destroyed()) {
    auto made = make_context(true);
    if (!made) return made;
    held = std::move(made).value();
    primary_ = held;
    primary_uses_ = 0;
  }
  ++primary_uses_;
  return held;
}

result<std::shared_ptr<context_record>> device_actor::release(bool force) {
  auto held = primary_.lock();
  if (primary_uses_ == 0 || !held || held->destroyed()) {
    return make_status(code::context_released, "device " + std::to_string(record_.index()) +
                                                   " is not set: there is no use to give back");
  }
  primary_uses_ = force ? 0 : primary_uses_ - 1;
  if (primary_uses_ > 0) return std::shared_ptr<context_record>{};
  primary_.reset();
  return held;
}

} // namespace troupe
