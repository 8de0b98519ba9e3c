#include "troupe/event.hpp"

#include <string>

#include "actors/graphs/capture.hpp"
#include "actors/simulation/simulation.hpp"
#include "actors/waiting.hpp"
#include "api/src/states.hpp"

namespace troupe {
namespace {

// The last record, looked at by somebody.
struct look {
  ticket last;
  std::shared_ptr<event_stamp> stamp;
  std::shared_ptr<stream_record> recorded_on; ///< null once that stream is gone
  std::shared_ptr<context_record> recorded_in; ///< null once its context is gone
};

result<look> observe(const std::shared_ptr<handles::event_state>& state) {
  if (!state) return make_status(code::invalid_handle, "the event handle is empty");
  if (auto s = state->home->check_alive(); !s.ok()) return s;
  if (const auto* play = state->home->play()) play->check_client();
  const std::lock_guard lock(state->guard);
  if (auto s = state->check_alive(); !s.ok()) return s;
  if (state->stamp) state->stamp->observed.store(true, std::memory_order_relaxed);
  return look{state->last, state->stamp, state->recorded_on.lock(), state->recorded_in.lock()};
}

// The first failure before the record that nobody was told of. A stream that ends leaves its own to
// the context, so that one is asked last.
status failure_before(const look& seen) {
  const auto& [line, number] = seen.last;
  if (seen.recorded_on) {
    if (auto s = seen.recorded_on->failure_up_to(number); !s.ok()) return s;
  }
  return seen.recorded_in ? seen.recorded_in->inherited_failure_up_to(line->id(), number)
                          : status{};
}

// In stop mode the context's first failure is the cause.
status dropped(const look& seen) {
  if (seen.recorded_in && seen.recorded_in->poisoned()) return seen.recorded_in->poison();
  const auto& last = seen.last;
  return make_status(code::stream_abort, "the event's record on stream " +
                                             std::to_string(last.line->id()) +
                                             " was dropped by an abort");
}

// The instant of the last record.
result<time_ns> instant_of(const event& e, const char* role) {
  if (auto s = capture::refuse_event(e.state().get(), "the instant of an event"); !s.ok()) return s;
  auto seen = observe(e.state());
  if (!seen) return seen.error();
  const auto& last = seen.value().last;
  const auto& stamp = seen.value().stamp;
  if (!last.line) {
    return make_status(code::internal_error,
                       std::string("the ") + role + " event was never recorded");
  }
  if (last.line->state_of(last.number) != ticket_state::reached || stamp->at == never_ns) {
    return make_status(code::event_timestamp_invalid,
                       std::string("the ") + role + " event has not been reached");
  }
  return stamp->at.load(std::memory_order_acquire);
}

} // namespace

result<bool> event::query() const {
  if (auto s = capture::refuse_event(state_.get(), "event::query"); !s.ok()) return s;
  auto seen = observe(state_);
  if (!seen) return seen.error();
  const auto& last = seen.value().last;
  if (!last.line) return true;
  switch (last.line->state_of(last.number)) {
    case ticket_state::reached: return true;
    case ticket_state::pending:
      if (auto* play = state_->home->play()) play->note_look(last);
      if (auto s = state_->home->let_things_change("event::query"); !s.ok()) return s;
      return false;
    case ticket_state::dropped: break;
  }
  return dropped(seen.value());
}

status event::synchronize(timeout limit) const {
  if (auto s = capture::refuse_event(state_.get(), "event::synchronize"); !s.ok()) return s;
  auto seen = observe(state_);
  if (!seen) return seen.error();
  auto& home = *state_->home;
  if (auto s = user_scope::refuse_inside("event::synchronize"); !s.ok()) return s;
  if (home.play() != nullptr) home.play()->note_call("event::synchronize");
  const auto deadline = deadline_after(home, limit.count());
  if (!deadline) return deadline.error();
  const auto& last = seen.value().last;
  if (!last.line) return {};
  const auto end = wait_for_number(home.room(), *last.line, last.number, deadline.value());
  if (end == wait_end::let_go) return home.room().why_let_go();
  if (end == wait_end::expired) {
    error_record record;
    record.what = code::event_sync_timeout;
    record.message = "stream " + std::to_string(last.line->id()) + " did not reach the event, " +
                     "number " + std::to_string(last.number) + ", within " +
                     std::to_string(limit.count()) + " ms; it is at " +
                     std::to_string(last.line->completed());
    record.plan_entry = last.line->struck_by();
    return status(std::move(record));
  }
  if (last.line->state_of(last.number) == ticket_state::dropped) {
    return dropped(seen.value());
  }
  return failure_before(seen.value());
}

result<std::chrono::duration<double, std::milli>> event::elapsed_since(const event& start) const {
  const auto from = instant_of(start, "start");
  if (!from) return from.error();
  const auto to = instant_of(*this, "end");
  if (!to) return to.error();
  const auto ms = static_cast<double>(to.value() - from.value()) / 1e6;
  if (ms < 0) {
    return make_status(code::event_timestamp_reversal,
                       "the start event came " + std::to_string(-ms) + " ms after the end event");
  }
  return std::chrono::duration<double, std::milli>(ms);
}

result<std::chrono::nanoseconds> event::instant() const {
  const auto at = instant_of(*this, "asked");
  if (!at) return at.error();
  return std::chrono::nanoseconds(at.value());
}

status event::destroy() {
  if (!state_) return make_status(code::invalid_handle, "the event handle is empty");
  if (auto s = may_call(*state_->home, "event::destroy"); !s.ok()) return s;
  const std::lock_guard lock(state_->guard);
  if (!state_->slot) return make_status(code::invalid_handle, "the event has been destroyed");
  state_->slot.reset();
  state_->stamp.reset();
  state_->spare.reset();
  return {};
}

void signal::raise() const {
  if (line_) (void)line_->complete(1);
}

bool signal::raised() const {
  if (!line_) return false;
  simulation::look("signal::raised", {line_, 1});
  return line_->completed() >= 1;
}

} // namespace troupe
