#include "actors/scheduling/coordinator.hpp"

#include <caf/actor_system.hpp>

#include "actors/scheduling/actor_base.hpp"
#include "actors/scheduling/job.hpp"
#include "actors/scheduling/relax.hpp"
#include "actors/scheduling/silent_printer.hpp"

namespace troupe {
namespace {

// How many messages an actor may handle before others on its lane get their turn.
constexpr std::size_t messages_per_turn = 64;

// The longest pause between two looks of a waiter, in units of `relax`.
constexpr unsigned pauses_max = 16;

// The scheduler that the calling thread lends itself to, and how deep.
thread_local const coordinator* lending_to = nullptr;
thread_local unsigned lending_depth = 0;

} // namespace

class coordinator::unit final : public caf::execution_unit {
public:
  explicit unit(coordinator* owner) : caf::execution_unit(&owner->system()), owner_(owner) {}
  void exec_later(caf::resumable* job) override { owner_->enqueue(job); }

private:
  coordinator* owner_;
};

live_config::live_config(const scheduler_options& o) : options(o) {
  load<coordinator>();
}

coordinator::coordinator(caf::actor_system& system)
    : abstract_coordinator(system),
      options_(dynamic_cast<const live_config&>(system.config()).options) {
  const auto make_lane = [this](lane_id id, unsigned threads_max) {
    lanes_[static_cast<std::size_t>(id)] =
        std::make_shared<lane>(to_string(id), threads_max, hooks_for(id));
  };
  make_lane(lane_id::control, options_.control_workers);
  make_lane(lane_id::compute, options_.compute_threads);
  make_lane(lane_id::dma, options_.dma_threads);
  make_lane(lane_id::callback, options_.callback_threads_max);
}

caf::actor_system::module* coordinator::make(caf::actor_system& system,
                                             caf::detail::type_list<>) {
  return new coordinator(system); // owned by the actor system
}

lane::hooks coordinator::hooks_for(lane_id id) {
  lane::hooks made;
  made.run = [this](caf::resumable* job) { run(job); };
  made.drop = [](caf::resumable* job) { abstract_coordinator::cleanup_and_release(job); };
  if (id == lane_id::control) {
    made.next_timer = [timers = timers_] { return timers->next_due(); };
    made.run_timers = [this] { timers_->run_due(time_.now()); };
  }
  return made;
}

// -- jobs ---------------------------------------------------------------------

void coordinator::enqueue(caf::resumable* job) {
  // CAF's own helpers (spawn and config servers) are no actors of ours; they are short.
  const auto* ours = cast_member(job);
  const auto id = ours != nullptr ? ours->lane() : lane_id::control;
  announce_queued(job); // after the last look at it here
  at(id).push(job, id != lane_id::control || !lends_here());
}

void coordinator::run(caf::resumable* job) {
  unit here(this);
  if (run_job(job, here, messages_per_turn)) enqueue(job);
}

bool coordinator::run_one_control() {
  auto* job = at(lane_id::control).try_pop();
  if (job == nullptr) return false;
  run(job);
  return true;
}

timer_queue::timer_id coordinator::at_time(time_ns due, std::function<void()> action) {
  const auto id = timers_->schedule(due, std::move(action));
  at(lane_id::control).settle();
  return id;
}

// -- waiting ------------------------------------------------------------------

bool coordinator::lends_here() const noexcept { return lending_to == this; }

void coordinator::begin_lending() noexcept {
  // A thread that waits on one runtime inside a wait on another (a handler never does) keeps
  // lending to the outer one.
  if (lending_depth++ == 0) lending_to = this;
}

void coordinator::end_lending() {
  if (--lending_depth != 0) return;
  lending_to = nullptr;
  auto& control = at(lane_id::control);
  if (control.has_work()) control.settle();
}

bool coordinator::poll_for(const poll& is_ready, time_ns deadline) {
  const auto until = std::min(deadline, time_.now() + time_ns{1000} * options_.spin_us);
  for (unsigned round = 1;; ++round) {
    if (is_ready()) return true;
    if (run_one_control()) continue;
    // Looks get rarer, as each takes a cache line away from whoever works.
    for (auto pauses = std::min(round, pauses_max); pauses > 0; --pauses) relax();
    // The clock costs more than a look at the condition. Whoever is waited for may want this core.
    if (round % 8 != 0) continue;
    if (time_.now() >= until) return is_ready();
    yield_core();
  }
}

bool coordinator::poll_until(const poll& is_ready, time_ns deadline) {
  while (!poll_for(is_ready, deadline)) {
    if (time_.now() >= deadline) return false;
  }
  return true;
}

bool coordinator::sleep_on(completion& point, time_ns deadline) {
  // Whatever this thread promised to run is handed to the workers before it sleeps.
  auto& control = at(lane_id::control);
  if (control.has_work()) control.settle();
  return point.block_until(deadline);
}

// -- the end ------------------------------------------------------------------

void coordinator::start() {
  unit here(this);
  utility_actors_[printer_id] = silent_printer::make(system(), here);
}

std::vector<std::string> coordinator::join(time_ns deadline) {
  std::vector<std::string> survivors;
  if (joined_) return survivors;
  joined_ = true;
  timers_->clear();
  for (const auto id : {lane_id::compute, lane_id::dma, lane_id::callback, lane_id::control}) {
    at(id).stop();
  }
  for (const auto id : {lane_id::compute, lane_id::dma, lane_id::callback, lane_id::control}) {
    for (auto stuck = at(id).join(deadline); stuck > 0; --stuck) {
      survivors.push_back("a thread of the " + at(id).name() + " lane, still in user code");
    }
  }
  return survivors;
}

void coordinator::stop() {
  const auto late = join(time_.now() + time_ns{1'000'000'000});
  Ensures(late.empty()); // the machine joins first and keeps the system alive if it cannot
  at(lane_id::control).run_rest(); // CAF's own helpers have just been told to end
}

} // namespace troupe
