#include "troupe/device.hpp"

#include "actors/ask.hpp"
#include "actors/device_actor.hpp"
#include "api/src/states.hpp"

namespace troupe {

std::uint32_t device::index() const noexcept { return record_->index(); }

const device_profile& device::profile() const noexcept { return record_->profile(); }

result<context> device::create_context() const {
  if (auto s = may_call(*home_, "device::create_context"); !s.ok()) return s;
  auto made = ask<result<std::shared_ptr<context_record>>>(
      home_->room(), record_->actor,
      [](auto answer) { return troupe::create_context{std::move(answer)}; });
  if (!made) return made.error();
  return context(std::make_shared<handles::context_state>(home_, std::move(made).value(), true));
}

result<memory_info> device::memory() const {
  if (auto s = may_call(*home_, "device::memory"); !s.ok()) return s;
  return ask<result<memory_info>>(home_->room(), record_->memory_keeper,
                                  [](auto answer) { return settle_memory{std::move(answer)}; });
}

compute_info device::compute() const {
  const auto& profile = record_->profile();
  return {profile.cores, profile.clock_khz, profile.peak_flops, counters().utilisation()};
}

device_counters device::counters() const { return record_->counters(); }

} // namespace troupe
