#include "actors/stream_drive.hpp"

#include <memory>
#include <utility>

#include <gsl/gsl>

#include "actors/context_record.hpp"
#include "actors/faults/fault_gate.hpp"
#include "actors/machine.hpp"
#include "actors/mapped_uses.hpp"
#include "actors/memory_checker.hpp"
#include "actors/memory_record.hpp"
#include "actors/payloads.hpp"
#include "actors/simulation/witness.hpp"
#include "actors/stream_actor.hpp"
#include "actors/stream_record.hpp"

namespace troupe {
namespace {

// How one look at the head of a stream ended.
enum class step {
  next,  ///< the command ended; look at the following one
  again, ///< look at the same command once more
  away,  ///< the grant is gone
};

// How far ahead commands are fetched from the submitter's core.
constexpr std::uint64_t commands_ahead = 4;

class journey {
public:
  journey(stream_record& stream, executor* by)
      : stream_(stream), line_(*stream.line()), queue_(&stream.queue()), by_(by),
        number_(line_.completed() + 1) {}

  void run() {
    for (auto went = look(); went != step::away; went = look()) {
      if (went == step::next) ++number_;
    }
  }

private:
  step look() {
    // The submitter's cache line is read only when what it told last is used up.
    if (number_ > available_ && !more_submitted()) return step::away;
    if (number_ > queue_->last_number()) queue_ = &stream_.next_queue(number_);
    auto& c = queue_->at(number_);
    Expects(c.number == number_);
    // Publishing a number keeps loads from running ahead, so later commands are asked for here.
    if (number_ + commands_ahead <= available_) queue_->prefetch(number_ + commands_ahead);
    if (number_ <= line_.aborted() || stream_.context().poisoned()) return drop(c);
    if (c.lost) [[unlikely]] return do_lost(c);
    if (c.kind == command_kind::record) return do_record(c);
    if (c.kind == command_kind::wait) return do_wait(c);
    if (by_ == nullptr || !by_->executes(c.kind)) {
      stream_.pass_to(c.kind);
      return put_away();
    }
    if (!stream_.keep_slot() || by_->turn_over(stream_)) {
      by_->requeue(stream_);
      return put_away();
    }
    return do_execute(c);
  }

  // The grant waits for an engine or a ticket. Whoever aborted, expired or poisoned the stream just
  // before found no grant to take, so it is taken back here; from then on the stream may be
  // anywhere.
  step put_away() {
    const bool called_back = number_ <= line_.aborted() || stream_.context().poisoned() ||
                             stream_.wait_expired(number_);
    if (!called_back || !stream_.seize()) return step::away;
    return take_up();
  }

  // The grant is back after it was put away: others may have had it in between and moved on.
  step take_up() {
    queue_ = &stream_.queue();
    number_ = line_.completed() + 1;
    available_ = 0;
    return step::again;
  }

  // Waits a moment for the submitter, then puts the grant away; false if it is gone.
  bool more_submitted() {
    const bool hurry = line_.awaited();
    for (unsigned looks = 0;; ++looks) {
      available_ = line_.submitted();
      if (number_ <= available_) return true;
      if (by_ != nullptr && by_->worth_staying(looks, hurry)) continue;
      if (stream_.park(number_)) return false;
      (void)take_up();
    }
  }

  step do_execute(command& c) {
    auto& context = stream_.context();
    if (context.has_strays() || (context.followed() && line_.aborted() != 0)) [[unlikely]] {
      if (auto s = check_uncontested(c); !s.ok()) {
        (void)stream_.fail(c, s);
        return end(c);
      }
    }
    status outcome;
    stream_.begin(number_);
    switch (execute_held(c, outcome)) {
      case progress::ended: break;
      case progress::engaged: return step::away;
      case progress::set_aside:
        if (!stream_.set_aside(number_)) return given_up();
        stream_.pass_to(c.kind); // a graph may go on with an engine of another kind
        return put_away();
    }
    if (number_ <= line_.aborted()) return drop(c);
    if (!outcome.ok()) (void)stream_.fail(c, outcome);
    return end(c);
  }

  progress execute_held(command& c, status& outcome) {
    const auto looks = stream_.home().memory_looks();
    if (looks == 0) [[likely]] return by_->execute(stream_, c, outcome);
    using look = machine::memory_look;
    if ((looks & look::mapped) != 0) {
      outcome = hold_mapped(c);
      if (!outcome.ok()) return progress::ended;
    }
    if ((looks & look::checked) == 0) return by_->execute(stream_, c, outcome);
    // Once, however often it was taken up: before anything that comes after it can begin.
    const auto went = by_->execute(stream_, c, outcome);
    if (went == progress::ended) check_uses(stream_.home(), c, stream_.id());
    return went;
  }

  // The mapped memory that it touches, once for all turns that engines take at it: a copy may be set
  // aside, a graph call back, and modelled work is run only when its time is over.
  [[nodiscard]] status hold_mapped(const command& c) {
    if (queue_->keeps_uses()) return {};
    auto uses = std::make_unique<mapped_uses>();
    if (auto s = uses->hold(stream_.home(), stream_.context().id(), c); !s.ok()) return s;
    if (!uses->empty()) queue_->keep(std::move(uses));
    return {};
  }

  // Whether no kernel that was given up on, or overtaken, may still touch what the command is about to.
  [[nodiscard]] status check_uncontested(const command& c) const {
    struct look {
      const machine& home;
      status found;
    } seen{stream_.home(), {}};
    const auto take = [](void* self, const access_range& range) {
      auto& [home, found] = *static_cast<look*>(self);
      const auto* memory = home.locate(range.base).memory;
      if (memory == nullptr || range.bytes == 0 || !found.ok()) return;
      using side = memory_record::side;
      found = memory->check_uncontested(
          range.base, range.bytes, range.mode == access_mode::read ? side::source : side::target);
    };
    if (c.op != nullptr && c.op->ranges != nullptr) c.op->ranges(c.payload(), {take, &seen});
    return seen.found;
  }

  // The gap in the numbers is all that is left of it.
  step do_lost(command& c) {
    (void)stream_.fail(c, stream_.why_lost(number_));
    return end(c);
  }

  step do_record(command& c) {
    c.as<record_payload>().stamp->at.store(stream_.home().time().now(), std::memory_order_release);
    return end(c);
  }

  step do_wait(command& c) {
    auto& wait = c.as<wait_payload>();
    const auto state = wait.line->state_of(wait.number);
    if (state == ticket_state::reached) return end_wait(c);
    if (state == ticket_state::dropped) {
      if (const auto cause = wait.line->break_cause(); !cause.ok()) {
        (void)stream_.fail(c, loss_of(wait, cause));
        return end_wait(c);
      }
    }
    if (stream_.wait_expired(number_)) {
      (void)stream_.fail(c, expiry_of(wait));
      return end_wait(c);
    }
    if (wait.limit != never_ns && wait.timer == 0) {
      wait.timer = start_wait_timer(stream_, number_, wait.limit);
    }
    const auto awaited = wait.line; // the command may be gone once the grant is put away
    return stream_.block_on(awaited, wait.number) ? put_away() : take_up();
  }

  step end_wait(command& c) {
    if (const auto timer = c.as<wait_payload>().timer; timer != 0) {
      stream_.home().scheduler().cancel(timer);
      stream_.note_wait_due(never_ns);
    }
    return end(c);
  }

  [[nodiscard]] static status expiry_of(const wait_payload& wait) {
    const auto missed = wait.line->what() == timeline_of::signal
                            ? " was not raised within "
                            : " did not reach number " + std::to_string(wait.number) + " within ";
    error_record record;
    record.what = code::task_timeout;
    record.message =
        wait.line->name() + missed + std::to_string(wait.limit / 1'000'000) + " ms";
    record.plan_entry = wait.line->struck_by();
    return status(std::move(record));
  }

  [[nodiscard]] static status loss_of(const wait_payload& wait, const status& cause) {
    error_record record;
    record.what = code::stream_abort;
    record.message = "stream " + std::to_string(wait.line->id()) + " will never reach number " +
                     std::to_string(wait.number) + ", as its context has stopped at a failure: " +
                     cause.message();
    record.stream = wait.line->id();
    record.cause = cause.record();
    return status(std::move(record));
  }

  step drop(command& c) {
    line_.note_dropped(number_, number_);
    if (auto* seen = stream_.home().seen()) seen->note(happening::dropped, stream_, c);
    if (c.lost) [[unlikely]] {
      (void)stream_.why_lost(number_);
      return end(c);
    }
    return c.kind == command_kind::wait ? end_wait(c) : end(c);
  }

  // The payload ends first: when the number is seen to be complete, what it captured is released.
  step end(command& c) {
    if (stream_.home().watched()) [[unlikely]] return end_watched(c);
    queue_->pop(number_);
    return line_.complete(number_) ? step::next : given_up();
  }

  step end_watched(command& c) {
    auto* gate = stream_.home().gate();
    const auto by = gate != nullptr ? gate->at_complete(stream_, c) : fault_gate::strike{};
    queue_->pop(number_);
    if (by && withheld(*gate, *by)) return step::away;
    if (auto* seen = stream_.home().seen()) seen->publishing(stream_, number_);
    if (!line_.complete(number_)) return given_up();
    if (by && by->action.kind == fault_kind::duplicate) complete_again(*gate);
    return step::next;
  }

  // The completion that comes twice: after the real one, when its number is not the next any more.
  void complete_again(const fault_gate& gate) {
    gate.later(stream_.home().time().now(), [line = stream_.line(), number = number_] {
      (void)line->complete(number);
    });
  }

  // Whether the end of the command does not arrive now.
  bool withheld(const fault_gate& gate, const fault_activation& by) {
    auto publish = [stream = stream_.shared_from_this(), number = number_] {
      stream->publish_withheld(number);
    };
    const auto late = gate.late_until(by);
    if (!late && by.action.kind != fault_kind::drop) return false;
    stream_.withhold(number_);
    if (late) gate.later(*late, std::move(publish));
    return true;
  }

  step given_up() {
    stream_.abandoned_returned(queue_, number_);
    return step::away;
  }

  stream_record& stream_;
  timeline& line_;
  command_queue* queue_;
  executor* const by_;
  std::uint64_t number_;
  std::uint64_t available_ = 0;
};

} // namespace

engine_kind engine_for(command_kind kind) noexcept {
  switch (kind) {
    case command_kind::copy_h2d: return engine_kind::dma_h2d;
    case command_kind::copy_d2h: return engine_kind::dma_d2h;
    case command_kind::copy_d2d: return engine_kind::dma_d2d;
    case command_kind::callback: return engine_kind::callback;
    case command_kind::kernel:
    case command_kind::record:
    case command_kind::wait: break;
  }
  return engine_kind::compute;
}

void drive(stream_record& stream, executor* by) { journey(stream, by).run(); }

} // namespace troupe
