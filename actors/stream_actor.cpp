#include "actors/stream_actor.hpp"

#include <functional>
#include <utility>

#include "actors/context_record.hpp"
#include "actors/device_record.hpp"
#include "actors/engine_actor.hpp"
#include "actors/faults/fault_gate.hpp"
#include "actors/machine.hpp"
#include "actors/scheduling/spawn.hpp"

namespace troupe {
namespace {

// Tells the stream actor that its last number has ended.
class drain_notice final : public ticket_listener {
public:
  explicit drain_notice(caf::actor target) : target_(std::move(target)) {}

private:
  void on_ticket(ticket_state) noexcept override { post(target_, stream_drained{}); }

  const caf::actor target_;
};

// What runs of the commands up to `mark` is given up on. False if it could not be: the grant was just
// on its way, or a copy runs, which ends with its chunk.
bool give_up_on(stream_record& stream, std::uint64_t mark) {
  const auto& line = *stream.line();
  if (line.completed() >= mark) return true; // what runs now a later abort may have a timer for
  auto* port = stream.served_at.load(std::memory_order_acquire);
  // Only user code may never return. A copy ends with its chunk, however starved its thread is, and
  // whoever owns the memory waits for that.
  const auto engine = stream.engaged();
  const auto number = line.completed() + 1;
  if (engine && stream.revoke(nullptr) != 0) {
    post(engine, work_due{number});
    return true;
  }
  const bool in_user_code = port != nullptr && lane_for(port->kind()) != lane_id::dma;
  const auto given_up = in_user_code ? stream.revoke(port) : 0;
  for (auto left = given_up; left > 0; --left) {
    stream.home().replace_stuck(stream.context().device(), *port);
  }
  return given_up != 0 || line.completed() >= mark;
}

time_ns end_of_patience(const stream_record& stream) {
  auto& home = stream.home();
  return after(home.time().now(), time_ns{1'000'000} * home.options().stop_bound_ms);
}

// Sees to the end of the work of a stream whose actor was killed, as that would have.
void see_to_end(const std::shared_ptr<stream_record>& stream) {
  auto& line = *stream->line();
  const auto mark = line.submitted();
  (void)stream->home().scheduler().at_time(end_of_patience(*stream), [stream, mark] {
    if (!give_up_on(*stream, mark)) return see_to_end(stream);
    (void)stream->line()->tell_again();
  });
}

// A timer of the runtime's own, which a fault may lose or make late.
timer_queue::timer_id start_timer(const stream_record& stream, time_ns due,
                                  std::function<void()> action) {
  auto& home = stream.home();
  if (auto* gate = home.gate()) due = gate->timer_due(stream, due);
  return home.scheduler().at_time(due, std::move(action));
}

} // namespace

stream_actor::stream_actor(caf::actor_config& config, std::shared_ptr<stream_record> record)
    : actor_base(config, lane_id::control, "stream"), record_(std::move(record)) {}

caf::behavior stream_actor::handlers() {
  return {
      on<abort_stream>([this](abort_stream& m) {
        // Not again where the sender has: what was submitted since may be meant to run.
        if (!m.dropped) record_->abort();
        watch_bound();
        m.answer(status{});
      }),
      on<close_stream>([this](close_stream& m) { close(m); }),
      on<await_stream_end>([this](await_stream_end& m) { end_awaited_.push_back(m.answer); }),
      on<wait_expired>([this](wait_expired& m) { record_->expire_wait(m.number); }),
      on<abort_overdue>([this](abort_overdue& m) { give_up(m.mark); }),
      on<stream_drained>([this](stream_drained&) { watch_for_end(); }),
  };
}

void stream_actor::watch_bound() {
  const auto& line = *record_->line();
  const auto mark = line.aborted();
  // The bound counts from the first abort that covers a command: a further one postpones nothing.
  if (line.idle() || std::exchange(watched_mark_, mark) == mark) return;
  set_overdue_timer(mark);
}

// Timers and notices that were asked for still come; the one that is lost may have been the last.
void stream_actor::start_again(const status& why) {
  for (const auto& answer : std::exchange(end_awaited_, {})) answer.fail(why);
  if (record_->closed()) watch_for_end();
}

// Set again until everything up to the mark has ended.
void stream_actor::set_overdue_timer(std::uint64_t mark) {
  const auto due = end_of_patience(*record_);
  record_->note_abort_due(due);
  (void)start_timer(*record_, due, [target = record_->actor, mark] {
    post(target, abort_overdue{mark});
  });
}

// Force also reaches a stream that was closed before and still drains: its context may be ending.
void stream_actor::close(close_stream& request) {
  const bool first = record_->close();
  if (request.force) {
    record_->abort();
    watch_bound();
  }
  if (!first && !request.force) {
    request.answer(make_status(code::invalid_handle, "stream " + std::to_string(record_->id()) +
                                                         " has been destroyed"));
    return;
  }
  failures_reported_ = request.reports;
  request.answer(status{});
  if (first) watch_for_end();
}

// A further abort tells its listeners at once, before the work has ended: then watch again.
void stream_actor::watch_for_end() {
  auto& line = *record_->line();
  const auto notice = std::make_shared<drain_notice>(record_->actor);
  if (!line.subscribe(line.submitted(), notice, listener_kind::host)) quit();
}

void stream_actor::give_up(std::uint64_t mark) {
  if (!give_up_on(*record_, mark)) set_overdue_timer(mark);
}

const char* stream_actor::state_word() const {
  if (!record_ || record_->closed()) return "draining";
  if (record_->line()->idle()) return "idle";
  return record_->waits() ? "waiting" : "at work";
}

void stream_actor::on_exit() {
  if (!record_) return;
  auto record = std::move(record_);
  (void)record->close();
  auto& line = *record->line();
  if (!line.idle()) { // killed, maybe while it drained
    record->abort();
    record->context().note_foreign_use({record->line(), line.submitted()});
    if (!line.idle()) see_to_end(record);
  }
  (void)line.tell_again(); // nobody looks any more for notices of it that got lost
  if (!failures_reported_) record->context().inherit_failure(*record);
  record->context().forget(record->id());
  record->leave_count();
  for (const auto& answer : std::exchange(end_awaited_, {})) answer(status{});
  announce_release(this);
}

timer_queue::timer_id start_wait_timer(stream_record& stream, std::uint64_t number,
                                       time_ns limit) {
  auto& home = stream.home();
  const auto due = after(home.time().now(), limit);
  stream.note_wait_due(due);
  return start_timer(stream, due, [target = stream.actor, number] {
    post(target, wait_expired{number});
  });
}

} // namespace troupe
