#include "api/src/states.hpp"

#include <string>

#include "actors/ask.hpp"
#include "actors/context_actor.hpp"
#include "actors/pool_actor.hpp"
#include "actors/scheduling/spawn.hpp"
#include "actors/stream_actor.hpp"
#include "api/src/binding.hpp"

namespace troupe {
namespace handles {

status event_state::check_alive() const {
  if (slot && !owner->destroyed()) return {};
  return make_status(code::invalid_handle,
                     slot ? "the event's context " + std::to_string(owner->id()) +
                                " has been destroyed, and the event with it"
                          : "the event has been destroyed");
}

context_state::context_state(std::shared_ptr<machine> m, std::shared_ptr<context_record> r,
                             bool own)
    : home(std::move(m)), record(std::move(r)), owned(own) {}

context_state::~context_state() {
  if (owned && home->check_alive().ok() && !record->destroyed()) {
    record->orphan();
    post(record->actor, destroy_context{no_reply<status>()});
  }
}

stream_state::stream_state(std::shared_ptr<machine> m, std::shared_ptr<stream_record> r, bool own)
    : home(std::move(m)), record(std::move(r)), owned(own) {}

stream_state::~stream_state() {
  if (owned && home->check_alive().ok() && !record->closed()) {
    record->orphan();
    post(record->actor, close_stream{false, no_reply<status>()});
  }
}

pool_state::~pool_state() {
  if (!owner->home->check_alive().ok()) return;
  give_back_slabs(*record);
  post(record->actor, close_pool{});
}

} // namespace handles

status may_use(const std::shared_ptr<handles::context_state>& state, const char* call) {
  if (!state) return make_status(code::context_null, "the context handle is empty");
  if (auto s = may_call(*state->home, call); !s.ok()) return s;
  const auto& record = *state->record;
  return record.destroyed() ? record.check_usable() : record.device().check_present();
}

status empty_stream() {
  return make_status(code::invalid_handle, "the stream handle is empty");
}

status may_submit(const std::shared_ptr<handles::stream_state>& state, const char* call) {
  if (!state) return empty_stream();
  state->record->prefetch_submission();
  if (auto s = may_call(*state->home, call); !s.ok()) return s;
  return binding::check(state->record->context());
}

status refused(const stream_record& record, status by_memory) {
  auto open = record.check_open();
  return open.ok() ? by_memory : open;
}

status end_context(machine& home, context_record& record) {
  return ask<status>(home, record.actor, "context::destroy", [](reply<status> answer) {
    return destroy_context{std::move(answer)};
  });
}

void end_unwanted(result<std::shared_ptr<context_record>>& context) {
  if (const auto& made = context.value()) {
    post(made->actor, destroy_context{no_reply<status>()});
  }
}

std::function<void(result<memory_block>&)> free_unwanted(
    const caf::actor& keeper, const std::shared_ptr<memory_record>& memory, std::uint64_t owner) {
  return [keeper, memory, owner](result<memory_block>& block) {
    post_free(keeper, memory, block.value().data, owner, {});
  };
}

result<time_ns> deadline_after(const machine& home, std::int64_t limit_ms) {
  if (limit_ms == -1) return never_ns;
  if (limit_ms <= 0) {
    return make_status(code::invalid_parameter,
                       "a wait limit of " + std::to_string(limit_ms) +
                           " ms; it is at least 1, or -1 to wait for ever");
  }
  return after(home.time().now(), limit_ns(limit_ms));
}

time_ns limit_ns(std::int64_t limit_ms) noexcept {
  const bool endless = limit_ms < 0 || limit_ms > never_ns / 1'000'000;
  return endless ? never_ns : limit_ms * 1'000'000;
}

result<std::uint64_t> bytes_of(std::size_t count, std::size_t element_bytes) {
  if (count == 0) {
    return make_status(code::bad_argument, "an allocation of 0 elements; the least is 1");
  }
  if (count > SIZE_MAX / element_bytes) {
    return make_status(code::invalid_parameter, std::to_string(count) + " elements of " +
                                                    std::to_string(element_bytes) +
                                                    " bytes are more than 64 bits can count");
  }
  return std::uint64_t{count} * element_bytes;
}

} // namespace troupe
