#include "actors/simulation/sim_coordinator.hpp"

#include <caf/actor_system.hpp>

#include "actors/scheduling/job.hpp"
#include "actors/scheduling/silent_printer.hpp"

namespace troupe {

class sim_coordinator::unit final : public caf::execution_unit {
public:
  explicit unit(sim_coordinator* owner) : caf::execution_unit(&owner->system()), owner_(owner) {}
  void exec_later(caf::resumable* job) override { owner_->enqueue(job); }

private:
  sim_coordinator* owner_;
};

sim_config::sim_config(simulation& p, wire* way, witness* w) : play(p), seen(w) {
  messages_pass = way != nullptr ? way : &play;
  load<sim_coordinator>();
}

sim_coordinator::sim_coordinator(caf::actor_system& system)
    : abstract_coordinator(system),
      play_(dynamic_cast<const sim_config&>(system.config()).play),
      seen_(dynamic_cast<const sim_config&>(system.config()).seen) {}

caf::actor_system::module* sim_coordinator::make(caf::actor_system& system,
                                                 caf::detail::type_list<>) {
  return new sim_coordinator(system); // owned by the actor system
}

void sim_coordinator::enqueue(caf::resumable* job) {
  announce_queued(job);
  play_.enqueue(job, *this);
}

void sim_coordinator::run(caf::resumable* job) {
  unit here(this);
  if (run_job(job, here, 1)) enqueue(job);
}

timer_queue::timer_id sim_coordinator::at_time(time_ns due, std::function<void()> action) {
  return play_.at_time(due, std::move(action), *this);
}

bool sim_coordinator::poll_for(const poll& is_ready, time_ns) { return is_ready(); }

bool sim_coordinator::poll_until(const poll& is_ready, time_ns deadline) {
  return play_.wait(is_ready, deadline);
}

bool sim_coordinator::sleep_on(completion& point, time_ns deadline) {
  return play_.wait({&completion::ready, &point}, deadline);
}

void sim_coordinator::start() {
  unit here(this);
  utility_actors_[printer_id] = silent_printer::make(system(), here);
}

// What actors still have to say they say while everything they may look at is there.
std::vector<std::string> sim_coordinator::join(time_ns) {
  play_.forget(*this);
  play_.run_rest(*this);
  return {};
}

void sim_coordinator::stop() {
  play_.forget(*this);
  play_.run_rest(*this);
}

} // namespace troupe
