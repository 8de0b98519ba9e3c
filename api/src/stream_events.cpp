#include <string>

#include "actors/graphs/capture.hpp"
#include "actors/payloads.hpp"
#include "api/src/binding.hpp"
#include "api/src/states.hpp"
#include "troupe/stream.hpp"

namespace troupe {
namespace {

status empty_event() { return make_status(code::invalid_handle, "the event handle is empty"); }

// Whether `e` can be recorded by streams of `target`'s device.
status check_place(const handles::event_state& e, const stream_record& target) {
  const auto& device = target.context().device();
  if (&e.device == &device) return {};
  if (e.home.get() != &target.home()) {
    return make_status(code::stream_context, "the event belongs to another runtime than stream " +
                                                 std::to_string(target.id()));
  }
  return make_status(code::stream_context, "an event of device " +
                                               std::to_string(e.device.index()) +
                                               " cannot be recorded on a stream of device " +
                                               std::to_string(device.index()));
}

// A record that nobody looked at, on another stream and not yet reached, loses its meaning: a
// barrier built from one event over many streams waits only for the last.
void warn_if_overwritten(const handles::event_state& e, const timeline& line) {
  if (!e.last.line || e.last.ended() || e.stamp->observed) return;
  e.home->note({diagnostic::kind::record_overwritten, e.last.line->id(),
                "an event's record on stream " + std::to_string(e.last.line->id()) +
                    " was replaced by one on stream " + std::to_string(line.id()) +
                    " before anybody waited for it"});
}

// A stamp for the next record. One that served before and that nobody else holds serves again:
// recording in a loop allocates nothing. The one in force stays as it is until the record is
// accepted.
std::shared_ptr<event_stamp> fresh_stamp(handles::event_state& e) {
  auto stamp = std::move(e.spare);
  if (!stamp) {
    stamp = std::make_shared<event_stamp>();
    stamp->slot = e.slot;
  }
  stamp->at.store(never_ns, std::memory_order_relaxed);
  stamp->observed.store(false, std::memory_order_relaxed);
  return stamp;
}

// Gives `e` its new meaning, unless a record of the same stream that comes later was faster.
void install(handles::event_state& e, stream_record& target, std::uint64_t number,
             std::shared_ptr<event_stamp> stamp) {
  const bool same = e.last.line == target.line();
  if (same && e.last.number > number) return;
  if (!same) {
    warn_if_overwritten(e, *target.line());
    e.last.line = target.line();
    e.recorded_on = target.weak_from_this();
    e.recorded_in = target.context().weak_from_this();
  }
  e.last.number = number;
  e.stamp.swap(stamp);
  if (stamp && stamp.use_count() == 1) e.spare = std::move(stamp);
}

status submit_wait(handles::stream_state& state, wait_payload payload, call_site site) {
  auto& target = *state.record;
  const ticket awaited{payload.line, payload.number};
  const bool for_good = payload.limit == never_ns;
  command made(command_kind::wait, "wait", site);
  made.emplace<wait_payload>(wait_ops, std::move(payload));
  std::uint64_t number = 0;
  auto accepted = target.submit(std::move(made), &number);
  if (accepted.ok() && for_good && target.context().keeps_waits()) {
    target.context().waits().note(*target.line(), number, awaited);
  }
  return accepted;
}

// A wait for what has ended needs no command, but counts as one.
status note_ended(stream_record& target, const ticket& awaited) {
  auto s = target.check_open();
  if (s.ok() && target.context().keeps_waits()) {
    const auto& line = *target.line();
    target.context().waits().note(line, line.submitted() + 1, awaited);
  }
  return s;
}

} // namespace

status stream::record(const event& e, call_site site) {
  if (!state_) return make_status(code::invalid_handle, "the stream handle is empty");
  if (!e.state()) return empty_event();
  auto& target = *state_->record;
  if (auto s = may_call(*state_->home, "stream::record"); !s.ok()) return s;
  if (auto s = binding::check(target.context()); !s.ok()) return s;
  auto& mark = *e.state();
  if (auto s = check_place(mark, target); !s.ok()) return s;
  std::unique_lock lock(mark.guard);
  if (auto s = mark.check_alive(); !s.ok()) return s;
  if (capture::any()) {
    if (auto taken = capture::record(&mark, target)) return *taken;
  }
  auto stamp = fresh_stamp(mark);
  std::uint64_t number = 0;
  // Waits for room in a full queue without the lock.
  auto accepted = target.record(stamp, number, site, lock);
  if (!lock.owns_lock()) lock.lock();
  // Destroyed meanwhile: the record came before that and changes nothing any more.
  if (!mark.slot) return accepted;
  if (accepted.ok()) {
    install(mark, target, number, std::move(stamp));
  } else if (stamp.use_count() == 1) {
    mark.spare = std::move(stamp);
  }
  return accepted;
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
    if (auto s = mark.check_alive(); !s.ok()) return s;
    if (capture::any()) {
      const bool recorded = mark.last.line != nullptr;
      if (auto taken = capture::wait(&mark, recorded, state_->record)) return *taken;
    }
    if (!mark.last.line) return target.check_open();
    mark.stamp->observed.store(true, std::memory_order_relaxed);
    // Stream order already does what the wait asks for.
    if (mark.last.line == target.line()) return target.check_open();
    switch (mark.last.line->state_of(mark.last.number)) {
      case ticket_state::reached: return note_ended(target, mark.last);
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
  if (capture::any()) {
    if (auto taken = capture::wait(s.line().get(), true, state_->record)) return *taken;
  }
  if (s.line()->completed() >= 1) return state_->record->check_open();
  wait_payload payload;
  payload.line = s.line();
  payload.number = 1;
  payload.limit = limit_ns(limit.count());
  return submit_wait(*state_, std::move(payload), site);
}

} // namespace troupe
