#include "tests/bench/peers/caf_actors.hpp"

namespace troupe::bench {

namespace {

using stream_self = caf::stateful_actor<caf_stream_state>*;

void run(stream_self, const caf_work& c) {
  c.kernel(nullptr);
}

void run(stream_self, const caf_fence& c) {
  c.reached->count_down();
}

void run(stream_self self, const caf_record& c) {
  self->send(c.event, caf_recorded{c.generation});
}

void run(stream_self self, const caf_wait& c) {
  self->state.waiting = true;
  self->send(c.event, caf_awaited{c.generation});
}

/// Runs the held commands up to the next wait.
void go_on(stream_self self) {
  auto& state = self->state;
  state.waiting = false;
  while (!state.waiting && !state.held.empty()) {
    const auto command = std::move(state.held.front());
    state.held.pop_front();
    std::visit([&](const auto& c) { run(self, c); }, command);
  }
}

void run_or_hold(stream_self self, caf_command command) {
  if (self->state.waiting)
    self->state.held.push_back(std::move(command));
  else
    std::visit([&](const auto& c) { run(self, c); }, command);
}

}  // namespace

caf_config::caf_config(caf_policy policy) {
  set("scheduler.policy",
      policy == caf_policy::stealing ? caf::atom("stealing") : caf::atom("sharing"));
}

caf::behavior caf_stream(stream_self self) {
  return {
    [=](const caf_work& c) { run_or_hold(self, c); },
    [=](const caf_fence& c) { run_or_hold(self, c); },
    [=](const caf_record& c) { run_or_hold(self, c); },
    [=](const caf_wait& c) { run_or_hold(self, c); },
    [=](const caf_call& c) {
      c.kernel(nullptr);
      return true;
    },
    [=](caf_released) { go_on(self); },
  };
}

caf::behavior caf_event(caf::stateful_actor<caf_event_state>* self) {
  return {
    [=](const caf_recorded& r) {
      auto& state = self->state;
      state.generation = r.generation;
      while (!state.waiters.empty() && state.waiters.front().first <= r.generation) {
        self->send(state.waiters.front().second, caf_released{});
        state.waiters.pop_front();
      }
    },
    [=](const caf_awaited& a) {
      auto stream = caf::actor_cast<caf::actor>(self->current_sender());
      if (a.generation <= self->state.generation)
        self->send(stream, caf_released{});
      else
        self->state.waiters.emplace_back(a.generation, std::move(stream));
    },
  };
}

}  // namespace troupe::bench
