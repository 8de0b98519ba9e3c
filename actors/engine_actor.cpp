#include "actors/engine_actor.hpp"

#include <algorithm>

#include <utility>

#include <gsl/gsl>

#include "actors/block_job.hpp"
#include "actors/copy_loop.hpp"
#include "actors/graphs/graph_replay.hpp"
#include "actors/machine.hpp"
#include "actors/payloads.hpp"
#include "actors/scheduling/relax.hpp"
#include "actors/scheduling/spawn.hpp"
#include "actors/scheduling/work_pace.hpp"
#include "actors/simulation/witness.hpp"
#include "actors/stream_record.hpp"
#include "actors/user_scope.hpp"

namespace troupe {
namespace {

// Commands a stream may have executed in one turn while others of its priority wait.
constexpr unsigned commands_per_turn = 64;

// Looks of a lingering engine between two offers of its core to others.
constexpr unsigned linger_looks_per_yield = 32;

} // namespace

lane_id lane_for(engine_kind kind) noexcept {
  switch (kind) {
    case engine_kind::compute: return lane_id::compute;
    case engine_kind::callback: return lane_id::callback;
    case engine_kind::dma_h2d:
    case engine_kind::dma_d2h:
    case engine_kind::dma_d2d: break;
  }
  return lane_id::dma;
}

engine_actor::engine_actor(caf::actor_config& config, machine& home, engine_port& port,
                           engine_load& load)
    : actor_base(config, lane_for(port.kind()), to_string(port.kind())), home_(home),
      pace_(home.scheduler().pace()), gate_(home.gate()), seen_(home.seen()),
      watched_(home.watched() || pace_ != nullptr), port_(port), load_(load),
      linger_([this] { return worth_lingering(); }) {}

void engine_actor::on_exit() {
  const auto left = std::exchange(engaged_, {});
  const bool lost = !home_.stopping();
  if (std::exchange(busy_, false)) load_.end(home_.time().now());
  load_.expect_end(0);
  if (left) {
    left->stream->set_engaged(nullptr);
    if (!lost) left->stream->abort(); // the runtime's end drops it; its stream may yet have to end
    if (lost && makes_way_ && !left->done) {
      left->stream->engine_restarted(left->queue, left->number);
    } else {
      const char* what = "the engine that ran it is gone";
      left->stream->engine_lost(left->queue, left->number,
                                ended_by_.ok() ? make_status(code::internal_error, what)
                                               : ended_by_);
    }
  }
  port_.engine_ended(caf::actor_cast<caf::actor>(this), lost);
  announce_release(this);
}

caf::behavior engine_actor::handlers() {
  return {
      on<doorbell>([this](doorbell&) { look_around(); }),
      on<work_due>([this](work_due& m) { end_engagement(m.number); }),
  };
}

// The clock is read when the engine turns from idle to busy and back, not for every stream.
void engine_actor::serve() {
  const auto self = caf::actor_cast<caf::actor>(this);
  for (auto work = port_.next(); work || (work = wait_for_work(self)); work = port_.next()) {
    if (!busy_) load_.begin(home_.time().now());
    busy_ = true;
    if (work.stream) {
      turn_ = 0;
      work.stream->served_at.store(&port_, std::memory_order_release);
      drive(*work.stream, this);
      if (engaged_) return; // it goes on when that work ends
      if (makes_way_) return;
    } else {
      if (work.job->run_as_helper()) home_.stuck_returned(port_);
    }
  }
}

engine_port::work engine_actor::wait_for_work(const caf::actor& self) {
  const auto now = home_.time().now();
  if (busy_) load_.end(now);
  busy_ = false;
  linger_until_ = now + time_ns{1000} * home_.options().spin_us;
  return port_.next_or_idle(self, linger_);
}

// Awake engines take the next launch without a message and without waking a thread, but not at the
// cost of other engines that want this thread, nor of other threads that want this core.
bool engine_actor::worth_lingering() {
  if (pace_ != nullptr || home_.scheduler().has_work(lane()) || home_.stopping()) return false;
  relax();
  if (++linger_looks_ % linger_looks_per_yield != 0) return true;
  yield_core();
  return home_.time().now() < linger_until_;
}

// -- executor -----------------------------------------------------------------

bool engine_actor::executes(command_kind kind) const noexcept {
  return engine_for(kind) == port_.kind() && !makes_way_;
}

bool engine_actor::turn_over(const stream_record& stream) noexcept {
  // One command at least: whoever was chosen out of fairness is overtaken all the time.
  if (turn_ == 0) return false;
  return port_.overtaken(stream.priority()) ||
         (turn_ >= commands_per_turn && port_.others_wait());
}

progress engine_actor::execute(stream_record& stream, command& c, status& outcome) {
  if (is_graph(c)) return run_graph(stream, c, outcome);
  return run_step(stream, c, outcome);
}

// A command of its own, or a step of a graph.
progress engine_actor::run_step(stream_record& stream, command& c, status& outcome) {
  if (watched_) [[unlikely]] {
    if (const auto went = before_running(stream, c, outcome)) return *went;
  }
  ++turn_;
  if (stream.running_name.load(std::memory_order_relaxed) != c.name) {
    stream.running_name.store(c.name, std::memory_order_release);
  }
  switch (c.kind) {
    case command_kind::kernel: outcome = run_kernel(stream, c); break;
    case command_kind::callback: outcome = run_callback(stream, c); break;
    case command_kind::copy_h2d:
    case command_kind::copy_d2h:
    case command_kind::copy_d2d:
      if (const auto went = run_copy(stream, c); went != progress::ended) return went;
      break;
    case command_kind::record:
    case command_kind::wait: Expects(false); // never given to an engine
  }
  load_.count(1, 0);
  return watched_ ? after_running(stream, c, outcome) : progress::ended;
}

// A look takes the submitter's cache line away from it. Where nobody waits, looks are rare enough
// for several commands to gather between them.
bool engine_actor::worth_staying(unsigned looks, bool hurry) const noexcept {
  const auto looks_max = hurry ? 32U : 4U;
  if (pace_ != nullptr || home_.options().spin_us == 0) return false;
  if (looks >= looks_max || port_.others_wait()) return false;
  for (auto pauses = hurry ? 2U : 48U; pauses > 0; --pauses) relax();
  return true;
}

void engine_actor::requeue(stream_record& stream) { stream.pass_to(port_); }

// -- the three kinds of work --------------------------------------------------

status engine_actor::run_kernel(stream_record& stream, command& c) {
  const user_scope::description here{user_scope::what::kernel, c.name, stream.id()};
  const user_scope inside(here);
  const stop_view stop(stream.line()->abort_mark(), c.number);
  if (c.blocks == 1) return invoke_guarded(c, {0, 1, stop}, code::kernel_exception);
  const auto job = std::make_shared<block_job>(c, stop, here);
  if (pace_ != nullptr) return job->run_as_owner(); // one engine stands for the whole device
  stream.note_split(c.number, job);
  port_.offer(job);
  auto outcome = job->run_as_owner();
  port_.withdraw(job.get());
  return outcome;
}

status engine_actor::run_callback(stream_record& stream, command& c) {
  const user_scope inside({user_scope::what::callback, c.name, stream.id()});
  const stop_view stop(stream.line()->abort_mark(), c.number);
  return invoke_guarded(c, {0, 1, stop}, code::internal_error);
}

progress engine_actor::run_copy(stream_record& stream, command& c) {
  auto& copy = c.as<copy_payload>();
  const stop_view stop(stream.line()->abort_mark(), c.number);
  while (copy.done < copy.bytes && !stop.requested()) {
    const auto before = seen_ != nullptr ? std::optional(copy) : std::nullopt;
    const auto count = copy_chunk(copy, home_.copy_chunk_bytes());
    load_.count(0, count);
    if (before) [[unlikely]] seen_->copied(stream, c, *before);
    if (copy.done >= copy.bytes) break;
    if (port_.overtaken(stream.priority())) return progress::set_aside;
    if (pace_ != nullptr) return engage_for(stream, c, std::exchange(struck_, {}));
  }
  return progress::ended;
}

} // namespace troupe
