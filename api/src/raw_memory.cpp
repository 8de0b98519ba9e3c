// Device memory of which the program keeps no more than the address.

#include <string>

#include "actors/ask.hpp"
#include "actors/waiting.hpp"
#include "api/src/states.hpp"
#include "troupe/context.hpp"
#include "troupe/runtime.hpp"

namespace troupe {
namespace {

status null_address() {
  return make_status(code::bad_argument, "the address to free is null");
}

// Waits for what is accepted now on all streams of the device; 107023 if an abort ends that.
status await_device(machine& home, const device_record& device) {
  for (const auto& context : device.contexts()) {
    for (const auto& stream : context->streams()) {
      auto& line = *stream->line();
      const auto end = wait_for_number(home.room(), line, line.submitted(), never_ns);
      if (end != wait_end::interrupted) continue;
      return make_status(code::stream_abort, "stream " + std::to_string(stream->id()) +
                                                 " was aborted while a free waited for it; the"
                                                 " memory has not been freed");
    }
  }
  return {};
}

status free_on(machine& home, const device_record& device, void* address, free_mode mode) {
  if (mode == free_mode::after_device) {
    if (auto s = await_device(home, device); !s.ok()) return s;
  }
  const auto claimed = device.memory->claim_raw(address);
  if (!claimed) return claimed.error();
  const auto owner = home.find_context(claimed.value());
  if (!owner || owner->destroyed()) return {}; // its memory is given back as a whole
  return ask<status>(home, device.memory_keeper, "context::free_raw", [&](reply<status> answer) {
    return free_block{static_cast<std::byte*>(address), claimed.value(), owner->outstanding(),
                      std::move(answer)};
  });
}

} // namespace

result<void*> context::allocate_raw(std::size_t bytes, initial contents, call_site site) const {
  auto got = allocate_bytes(bytes, 1, contents);
  if (!got) return got.error();
  auto* data = std::move(got).value().release();
  const auto& record = *state_->record;
  record.device().memory->note_raw(data, record.id(), site);
  return static_cast<void*>(data);
}

status context::free_raw(void* address, free_mode mode) const {
  if (auto s = may_use(state_, "context::free_raw"); !s.ok()) return s;
  if (address == nullptr) return null_address();
  return free_on(*state_->home, state_->record->device(), address, mode);
}

status runtime::free_raw(void* address, free_mode mode) const {
  if (!home_) return make_status(code::uninitialized, "the runtime has been moved from");
  if (auto s = may_call(*home_, "runtime::free_raw"); !s.ok()) return s;
  if (address == nullptr) return null_address();
  const auto* const device = home_->locate(address).device;
  if (device != nullptr) return free_on(*home_, *device, address, mode);
  return make_status(code::invalid_parameter, "the address is in no device's memory");
}

result<context_memory> context::memory() const {
  if (auto s = may_use(state_, "context::memory"); !s.ok()) return s;
  const auto& device = state_->record->device();
  const auto settled = ask<result<memory_info>>(
      *state_->home, device.memory_keeper, "context::memory",
      [](auto answer) { return settle_memory{std::move(answer)}; });
  if (!settled) return settled.error();
  return device.memory->info_of(state_->record->id());
}

} // namespace troupe
