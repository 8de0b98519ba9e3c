#include "troupe/device.hpp"

#include "actors/ask.hpp"
#include "actors/device_actor.hpp"
#include "actors/stream_actor.hpp"
#include "actors/simulation/witness.hpp"
#include "actors/waiting.hpp"
#include "api/src/states.hpp"

namespace troupe {
namespace {

status empty_handle() {
  return make_status(code::invalid_handle, "the device handle is empty");
}

} // namespace

std::uint32_t device::index() const noexcept { return home_ ? record_->index() : 0; }

const device_profile& device::profile() const noexcept {
  static const device_profile none = {"", 0, 0, 0, 0, 0, 0, 0, 0, 0};
  return home_ ? record_->profile() : none;
}

result<context> device::create_context(const context_options& options) const {
  if (!home_) return empty_handle();
  if (auto s = may_call(*home_, "device::create_context"); !s.ok()) return s;
  if (auto s = record_->check_present(); !s.ok()) return s;
  auto made = ask<result<std::shared_ptr<context_record>>>(
      *home_, record_->actor, "device::create_context",
      [&](auto answer) {
        return troupe::create_context{options.memory_limit_bytes, std::move(answer)};
      },
      &end_unwanted);
  if (!made) {
    const auto present = record_->check_present(); // its actor may have died with the request
    return made.code() == code::internal_error && !present.ok() ? present : made.error();
  }
  record_->entered.store(true, std::memory_order_release);
  if (auto* seen = home_->seen()) seen->context_made(made.value()->id());
  return context(std::make_shared<handles::context_state>(home_, std::move(made).value(), true));
}

result<memory_info> device::memory() const {
  if (!home_) return empty_handle();
  if (auto s = may_call(*home_, "device::memory"); !s.ok()) return s;
  if (auto s = record_->check_present(); !s.ok()) return s;
  return ask<result<memory_info>>(*home_, record_->memory_keeper, "device::memory",
                                  [](auto answer) { return settle_memory{std::move(answer)}; });
}

// Every abort has its bound, so every stream comes to an end.
status device::reset() const {
  if (!home_) return empty_handle();
  if (auto s = may_call(*home_, "device::reset"); !s.ok()) return s;
  record_->revive_keepers();
  for (const auto& context : record_->contexts()) {
    const auto streams = context->streams();
    auto ended = end_context(*home_, *context);
    if (!context->destroyed()) return ended;
    for (const auto& stream : streams) {
      auto& line = *stream->line();
      while (!line.idle()) {
        const auto end = wait_for_number(home_->room(), line, line.submitted(), never_ns);
        if (end == wait_end::let_go) return home_->room().why_let_go();
      }
      (void)ask<status>(*home_, stream->actor, "device::reset", [](reply<status> answer) {
        return await_stream_end{std::move(answer)};
      });
    }
  }
  return record_->restore();
}

compute_info device::compute() const {
  if (!home_) return {};
  const auto& profile = record_->profile();
  return {profile.cores, profile.clock_khz, profile.peak_flops, counters().utilisation()};
}

device_counters device::counters() const {
  if (!home_) return {};
  (void)home_->let_things_change("device::counters");
  return record_->counters();
}

} // namespace troupe
