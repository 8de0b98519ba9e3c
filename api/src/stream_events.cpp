#include <string>

#include "actors/payloads.hpp"
#include "api/src/binding.hpp"
#include "api/src/states.hpp"
#include "troupe/stream.hpp"

namespace troupe {
namespace {

status empty_event() { return make_status(code::invalid_handle, "the event handle is empty"); }

status dead_event() { return make_status(code::invalid_handle, "the event has been destroyed"); }

// A record that nobody looked at, on another stream and not yet reached, loses its meaning: a
// barrier built from one event over many streams waits only for the last.
void warn_if_overwritten(handles::event_state& e, const timeline& line) {
  if (!e.last.line || e.last.line.get() == &line || e.last.ended() || e.stamp->observed) return;
  e.home->note({diagnostic::kind::record_overwritten, e.last.line->id(),
                "an event's record on stream " + std::to_string(e.last.line->id()) +
                    " was replaced by one on stream " + std::to_string(line.id()) +
                    " before anybody waited for it"});
}

status submit_wait(handles::stream_state& state, wait_payload payload, call_site site) {
  command made(command_kind::wait, "wait", site);
  made.emplace<wait_payload>(wait_ops, std::move(payload));
  return state.record->submit(std::move(made));
}

} // namespace

status stream::record(const event& e, call_site site) {
  if (!state_) return make_status(code::invalid_handle, "the stream handle is empty");
  if (!e.state()) return empty_event();
  auto& target = *state_->record;
  if (auto s = may_call(*state_->home, "stream::record"); !s.ok()) return s;
  if (auto s = binding::check(target.context()); !s.ok()) return s;
  auto& mark = *e.state();
  if (&mark.device != &target.context().device()) {
    return make_status(code::stream_context,
                       "an event of device " + std::to_string(mark.device.index()) +
                           " cannot be recorded on a stream of device " +
                           std::to_string(target.context().device().index()));
  }
  const std::lock_guard lock(mark.guard);
  if (!mark.slot) return dead_event();
  warn_if_overwritten(mark, *target.line());
  // A stamp that nobody else holds serves again: recording in a loop allocates nothing.
  auto stamp = mark.stamp;
  mark.stamp.reset();
  if (!stamp || stamp.use_count() > 1) {
    stamp = std::make_shared<event_stamp>();
    stamp->slot = mark.slot;
  }
  stamp->at.store(never_ns, std::memory_order_relaxed);
  stamp->observed.store(false, std::memory_order_relaxed);
  std::uint64_t number = 0;
  if (auto s = target.record(stamp, number, site); !s.ok()) return s;
  mark.last.number = number;
  if (mark.last.line != target.line()) {
    mark.last.line = target.line();
    mark.recorded_on = target.weak_from_this();
  }
  mark.stamp = std::move(stamp);
  return {};
}

status stream::wait(const event& e, timeout limit, call_site site) {
  if (!state_) return make_status(code::invalid_handle, "the stream handle is empty");
  if (!e.state()) return empty_event();
  auto& target = *state_->record;
  if (auto s = may_call(*state_->home, "stream::wait"); !s.ok()) return s;
  if (auto s = binding::check(target.context()); !s.ok()) return s;
  auto& mark = *e.state();
  if (mark.home != state_->home) {
    return make_status(code::invalid_parameter, "the event belongs to another runtime");
  }
  if (const auto valid = deadline_after(*state_->home, limit.count()); !valid) return valid.error();
  wait_payload payload;
  {
    const std::lock_guard lock(mark.guard);
    if (!mark.slot) return dead_event();
    if (!mark.last.line) return target.check_open();
    mark.stamp->observed.store(true, std::memory_order_relaxed);
    // Stream order already does what the wait asks for.
    if (mark.last.line == target.line()) return target.check_open();
    switch (mark.last.line->state_of(mark.last.number)) {
      case ticket_state::reached: return target.check_open();
      case ticket_state::dropped:
        // A failure in stop mode fails the wait as a task, whether it came before or after.
        if (!mark.last.line->break_cause().ok()) break;
        return make_status(code::stream_abort,
                           "the event's record on stream " +
                               std::to_string(mark.last.line->id()) + " was dropped by an abort");
      case ticket_state::pending: break;
    }
    payload.line = mark.last.line;
    payload.number = mark.last.number;
    payload.stamp = mark.stamp;
  }
  payload.limit = limit_ns(limit.count());
  return submit_wait(*state_, std::move(payload), site);
}

status stream::wait(const signal& s, timeout limit, call_site site) {
  if (!state_) return make_status(code::invalid_handle, "the stream handle is empty");
  if (!s.line()) return make_status(code::invalid_handle, "the signal handle is empty");
  if (auto r = may_call(*state_->home, "stream::wait"); !r.ok()) return r;
  if (auto r = binding::check(state_->record->context()); !r.ok()) return r;
  if (const auto valid = deadline_after(*state_->home, limit.count()); !valid) return valid.error();
  if (s.raised()) return state_->record->check_open();
  wait_payload payload;
  payload.line = s.line();
  payload.number = 1;
  payload.limit = limit_ns(limit.count());
  return submit_wait(*state_, std::move(payload), site);
}

} // namespace troupe
