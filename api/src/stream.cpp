#include "troupe/stream.hpp"

#include <array>
#include <string>

#include "actors/ask.hpp"
#include "actors/graphs/capture.hpp"
#include "actors/mapped_uses.hpp"
#include "actors/pool_actor.hpp"
#include "actors/simulation/simulation.hpp"
#include "actors/stream_actor.hpp"
#include "actors/waiting.hpp"
#include "api/src/binding.hpp"
#include "api/src/copy.hpp"
#include "api/src/host_function.hpp"
#include "api/src/states.hpp"
#include "core/ranged_kernel.hpp"

namespace troupe {
namespace {

// The answer of a stream actor; one that has ended answers nothing.
status explained(const stream_record& record, status answer) {
  const bool unanswered = answer.code() == code::internal_error;
  return unanswered && record.closed() ? record.why_closed() : answer;
}

// Whether the stream can tell about itself: its locks may be held for ever in a forked child.
bool has_figures(const std::shared_ptr<handles::stream_state>& state) noexcept {
  return state && !state->home->inherited();
}

} // namespace

stream::stream(std::shared_ptr<handles::stream_state> state)
    : state_(std::move(state)), context_id_(state_->record->context().id()) {}

std::uint64_t stream::id() const noexcept { return state_ ? state_->record->id() : 0; }

unsigned stream::priority() const noexcept { return state_ ? state_->record->priority() : 0; }

stream_counters stream::counters() const {
  if (!has_figures(state_)) return {};
  (void)state_->home->let_things_change("stream::counters");
  return state_->record->counters();
}

// -- launches -----------------------------------------------------------------

status stream::foreign_memory(const task& t, std::initializer_list<std::uint64_t> contexts) const {
  std::size_t place = 0;
  for (const auto each : contexts) {
    ++place;
    if (each == 0 || each == context_id_) continue;
    const bool here = state_ && state_->home->find_context(each);
    return make_status(code::invalid_parameter,
                       "argument " + std::to_string(place) + " of '" + t.name +
                           "' is memory of context " + std::to_string(each) +
                           (here ? "" : ", which is of another runtime or destroyed") +
                           "; the stream is of context " + std::to_string(context_id_));
  }
  return {};
}

status stream::no_blocks(const task& t) {
  return make_status(code::invalid_parameter,
                     std::string("launch of '") + t.name + "' with 0 blocks; the least is 1");
}

result<std::shared_ptr<const kernel_entry>> stream::find_kernel(const char* name) const {
  if (auto s = may_submit(state_, "stream::launch_by_name"); !s.ok()) return s;
  return state_->home->kernels().find(name);
}

status stream::submit(command&& c) const {
  if (auto s = may_submit(state_, "a launch"); !s.ok()) return s;
  if (auto s = check_mapped(*state_->home, context_id_, c); !s.ok()) return s;
  return capture::submit(*state_->record, std::move(c));
}

status stream::launch_over(const task& t, std::function<status(const block&)> kernel,
                           std::vector<access_range> memory) {
  if (t.blocks == 0) return no_blocks(t);
  if (!kernel) {
    return make_status(code::invalid_parameter,
                       std::string("the kernel '") + t.name + "' is empty");
  }
  return submit(make_ranged_command(t, std::move(kernel), std::move(memory)));
}

status stream::callback(const task& t, std::function<void()> function) {
  if (auto s = may_submit(state_, "stream::callback"); !s.ok()) return s;
  if (!function) {
    return make_status(code::invalid_parameter,
                       std::string("the host callback '") + t.name + "' is empty");
  }
  command made(command_kind::callback, t.name, t.site);
  made.emplace<host_function>(host_function_ops, std::move(function));
  return capture::submit(*state_->record, std::move(made));
}

// -- copies -------------------------------------------------------------------

status stream::copy_raw(const copy_request& request) {
  if (request.bytes == 0) return {};
  if (auto s = may_submit(state_, "stream::copy"); !s.ok()) return s;
  const auto& record = state_->record;
  const auto checked = check_stream_copy(*state_->home, request, *record->line());
  if (!checked) return refused(*record, checked.error());
  const std::array owners{checked.value().target_owner, checked.value().source_owner};
  return submit_copy(*record, make_copy_command(request, checked.value().direction), owners,
                     checked.value().pinned || request.held);
}

status stream::fill_raw(void* target, std::size_t bytes, unsigned char value,
                        std::uint64_t context, call_site site) {
  if (bytes == 0) return {};
  if (auto s = may_submit(state_, "stream::fill_bytes"); !s.ok()) return s;
  const task fill_task("fill", 1, site);
  if (auto s = foreign_memory(fill_task, {context}); !s.ok()) return s;
  if (auto s = check_fill(state_->record->context(), target, bytes, state_->record->line().get());
      !s.ok()) {
    return refused(*state_->record, s);
  }
  auto made = make_fill_command(target, bytes, value, site);
  if (auto s = check_mapped(*state_->home, context_id_, made); !s.ok()) return s;
  return capture::submit(*state_->record, std::move(made));
}

// -- completion ---------------------------------------------------------------

status stream::synchronize(timeout limit) const {
  if (!state_) return empty_stream();
  auto& home = *state_->home;
  auto& record = *state_->record;
  auto& line = *record.line();
  if (auto s = may_call(home, "stream::synchronize"); !s.ok()) return s;
  if (auto s = capture::refuse_on(record, "stream::synchronize"); !s.ok()) return s;
  if (record.closed()) return record.why_closed();
  const auto target = line.submitted();
  if (limit != forever || line.completed() < target) {
    const auto deadline = deadline_after(home, limit.count());
    if (!deadline) return deadline.error();
    switch (wait_for_number(home.room(), line, target, deadline.value())) {
      case wait_end::reached: break;
      case wait_end::interrupted: return record.why_interrupted();
      case wait_end::expired: return record.overdue(limit.count());
      case wait_end::let_go: return home.room().why_let_go();
    }
  }
  if (record.context().has_surplus()) [[unlikely]] give_back_surplus(record.context());
  if (auto s = record.context().check_usable(); !s.ok()) return s;
  return record.take_failure(target);
}

result<bool> stream::query() const {
  if (!state_) return empty_stream();
  if (auto s = state_->home->check_alive(); !s.ok()) return s;
  if (const auto* play = state_->home->play()) play->check_client();
  const auto& record = *state_->record;
  if (auto s = capture::refuse_on(record, "stream::query"); !s.ok()) return s;
  if (record.closed()) return record.why_closed();
  if (record.context().destroyed()) return record.context().check_usable();
  if (auto s = record.context().device().check_present(); !s.ok()) return s;
  const bool idle = record.line()->idle();
  if (idle) return true;
  const ticket all{record.line(), record.line()->submitted()};
  if (auto* play = state_->home->play()) play->note_look(all);
  if (auto s = state_->home->let_things_change("stream::query"); !s.ok()) return s;
  return false;
}

std::vector<status> stream::failures() const {
  if (!has_figures(state_)) return {};
  (void)state_->home->let_things_change("stream::failures");
  return state_->record->failures();
}

// -- control ------------------------------------------------------------------

status stream::abort() const {
  if (!state_) return empty_stream();
  if (auto s = may_call(*state_->home, "stream::abort"); !s.ok()) return s;
  if (auto s = capture::refuse_on(*state_->record, "stream::abort"); !s.ok()) return s;
  // A closed stream may still drain, with a thread that waits for it; one that has ended says so.
  const auto& record = state_->record;
  auto aborted = ask<status>(*state_->home, record->actor, "stream::abort",
                             [](reply<status> answer) { return abort_stream{std::move(answer)}; });
  return explained(*record, aborted);
}

status stream::destroy(bool force) {
  if (auto s = may_submit(state_, "stream::destroy"); !s.ok()) return s;
  if (auto s = capture::refuse_on(*state_->record, "stream::destroy"); !s.ok()) return s;
  auto& home = *state_->home;
  auto& record = *state_->record;
  if (!state_->owned) {
    return make_status(code::invalid_parameter, "stream " + std::to_string(record.id()) +
                                                    " is its context's default stream");
  }
  if (record.closed() && !force) return record.why_closed();
  auto& line = *record.line();
  const auto aborts = line.abort_count();
  auto closed = ask<status>(home, record.actor, "stream::destroy", [force](reply<status> answer) {
    return close_stream{force, std::move(answer), true};
  });
  if (!closed.ok()) return explained(record, closed);
  const auto last = line.submitted();
  if (wait_for_number(home.room(), line, last, never_ns) == wait_end::let_go) {
    return home.room().why_let_go();
  }
  // The actor's end is the answer, also when it comes before the question.
  (void)ask<status>(home, record.actor, "stream::destroy", [](reply<status> answer) {
    return await_stream_end{std::move(answer)};
  });
  // Cleaning up succeeds by force, and after a failure in stop mode, which its context still tells.
  if (force || record.context().poisoned()) return {};
  const bool interrupted = line.abort_count() != aborts;
  if (interrupted && line.state_of(last) == ticket_state::dropped) return record.why_dropped();
  return record.take_failure(last);
}

status stream::set_failure_mode(failure_mode mode) const {
  if (!state_) return empty_stream();
  if (auto s = may_call(*state_->home, "stream::set_failure_mode"); !s.ok()) return s;
  auto& context = state_->record->context();
  if (auto s = binding::check(context); !s.ok()) return s;
  if (mode == failure_mode::stop) {
    context.stop_at_failure();
    return {};
  }
  if (!context.stop_on_failure()) return {};
  return make_status(code::not_supported, "context " + std::to_string(context.id()) +
                                              " stops at failures; that cannot be taken back");
}

} // namespace troupe
