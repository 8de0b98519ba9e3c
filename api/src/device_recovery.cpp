// What brings a device out of trouble: the abort of all its work, hooks around it, and the repair.

#include <chrono>

#include "actors/device_actor.hpp"
#include "actors/waiting.hpp"
#include "api/src/states.hpp"
#include "troupe/device.hpp"
#include "troupe/testing.hpp"

namespace troupe {
namespace {

status empty_handle() {
  return make_status(code::invalid_handle, "the device handle is empty");
}

// Waits until nothing of the device's work is left; the streams that still have some by `deadline`.
std::string await_idle(machine& home, const device_record& device, time_ns deadline) {
  std::string busy;
  for (const auto& context : device.contexts()) {
    for (const auto& stream : context->streams()) {
      auto& line = *stream->line();
      auto went = wait_end::interrupted; // the abort itself ends one wait early
      while (!line.idle() && went != wait_end::expired) {
        went = wait_for_number(home.room(), line, line.submitted(), deadline);
      }
      if (!line.idle()) busy += (busy.empty() ? "" : "; ") + stream->situation();
    }
  }
  return busy;
}

// Everybody was told of the fault already, as long as it was there: it is no news afterwards.
void forget_failure(const device_record& device,
                    const std::shared_ptr<const error_record>& failure) {
  for (const auto& context : device.contexts()) {
    for (const auto& stream : context->streams()) {
      if (stream->failure_up_to(failure->task_number).record() != failure) continue;
      (void)stream->take_failure(failure->task_number);
    }
  }
}

} // namespace

status device::abort(timeout limit) const {
  if (!home_) return empty_handle();
  if (auto s = may_call(*home_, "device::abort"); !s.ok()) return s;
  if (record_->lost()) return record_->check_present();
  const auto deadline = deadline_after(*home_, limit.count());
  if (!deadline) return deadline.error();
  auto& outage = record_->outage();
  if (auto s = outage.begin_abort(); !s.ok()) return s;
  auto hooks = outage.call_hooks(abort_phase::before);
  record_->tell_contexts(outage.check());
  const auto busy = await_idle(*home_, *record_, deadline.value());
  if (const auto after = outage.call_hooks(abort_phase::after); hooks.ok()) hooks = after;
  outage.end_abort(busy.empty());
  for (const auto& each : record_->contexts()) each->set_device_trouble(outage.check());
  if (busy.empty()) return hooks;
  return make_status(code::wait_timeout, "device " + std::to_string(record_->index()) +
                                             " was not idle within " +
                                             std::to_string(limit.count()) +
                                             " ms of its abort: " + busy);
}

status device::set_abort_hook(const std::string& name,
                              std::function<void(abort_phase)> hook) const {
  if (!home_) return empty_handle();
  if (auto s = may_call(*home_, "device::set_abort_hook"); !s.ok()) return s;
  return record_->outage().set_hook(name, std::move(hook));
}

status device::repair() const {
  if (!home_) return empty_handle();
  if (auto s = may_call(*home_, "device::repair"); !s.ok()) return s;
  if (record_->lost()) return record_->check_present();
  const auto told = record_->outage().details();
  if (auto s = record_->outage().repair(); !s.ok()) return s;
  if (told) forget_failure(*record_, told->failure.record());
  record_->tell_contexts({});
  return {};
}

device_health device::health() const noexcept {
  return home_ ? record_->health() : device_health::unused;
}

std::optional<memory_fault> device::fault() const {
  return home_ ? record_->outage().details() : std::nullopt;
}

available_resources device::available() const {
  if (!home_ || home_->inherited()) return {};
  const auto& limits = record_->profile();
  const auto left = [](std::uint64_t limit, std::uint64_t used) {
    return limit > used ? limit - used : 0;
  };
  available_resources seen;
  seen.streams = left(limits.stream_limit, record_->stream_count.load(std::memory_order_relaxed));
  seen.events = left(limits.event_limit, record_->events());
  seen.memory_bytes = record_->memory->info().free;
  return seen;
}

namespace testing {

neighbour::neighbour(const device& of, std::uint64_t streams, std::uint64_t events)
    : home_(of.home()), record_(of.record()), streams_(streams), events_(events) {
  const auto left = of.available();
  if (!home_ || left.streams < streams || left.events < events) {
    throw error(code::resource_shortage, "the device has no room for such a neighbour");
  }
  record_->stream_count.fetch_add(streams, std::memory_order_relaxed);
  record_->event_counter()->fetch_add(events);
}

neighbour::~neighbour() {
  record_->stream_count.fetch_sub(streams_, std::memory_order_relaxed);
  record_->event_counter()->fetch_sub(events_);
}

} // namespace testing
} // namespace troupe
