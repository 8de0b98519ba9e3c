#pragma once

#include <caf/detail/test_actor_clock.hpp>
#include <caf/execution_unit.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include "actors/scheduling/scheduler.hpp"
#include "actors/scheduling/stage_config.hpp"
#include "actors/scheduling/work_pace.hpp"
#include "actors/simulation/simulation.hpp"

namespace troupe {

/// The configuration of a simulated runtime.
class sim_config final : public stage_config {
public:
  /// Messages pass `way`, and at its end the simulation; null: the simulation alone.
  sim_config(simulation& play, wire* way, witness* seen);

  simulation& play;
  witness* const seen;
};

/// The scheduler of a simulated runtime, loaded into CAF as a module: it has no threads, and what
/// it is given it hands to the simulation, which may serve several runtimes.
class sim_coordinator final : public caf::scheduler::abstract_coordinator,
                              public scheduler,
                              public work_pace {
public:
  explicit sim_coordinator(caf::actor_system& system);

  /// CAF's factory for modules.
  static caf::actor_system::module* make(caf::actor_system& system, caf::detail::type_list<>);

  /// Has `job` handle one message.
  void run(caf::resumable* job);

  // -- CAF's side -------------------------------------------------------------

  void enqueue(caf::resumable* job) override;
  caf::actor_clock& clock() noexcept override { return unused_clock_; }
  bool detaches_utility_actors() const override { return false; }

  // -- scheduler --------------------------------------------------------------

  timer_queue::timer_id at_time(time_ns due, std::function<void()> action) override;
  bool cancel(timer_queue::timer_id id) override { return play_.cancel(id); }
  [[nodiscard]] std::size_t pending_timers() const override { return play_.pending_timers(); }
  [[nodiscard]] bool has_work(lane_id) const noexcept override { return false; }
  [[nodiscard]] bool ensure_served(lane_id) override { return true; }
  [[nodiscard]] bool replace_thread(lane_id) override { return true; }
  void thread_returned(lane_id) override {}
  [[nodiscard]] std::vector<std::string> join(time_ns deadline) override;
  [[nodiscard]] work_pace* pace() noexcept override { return this; }

  // -- work_pace --------------------------------------------------------------

  [[nodiscard]] time_ns cost_of(const stream_record& stream, const command& c,
                                std::size_t chunk_bytes) override {
    return play_.cost_of(stream, c, chunk_bytes);
  }
  void work_until(time_ns due, const actor_base& engine, std::function<void()> ended) override {
    play_.work_until(due, engine, std::move(ended), *this);
  }

  // -- waiting_room -----------------------------------------------------------

  void begin_lending() noexcept override {}
  void end_lending() override {}
  bool poll_for(const poll& is_ready, time_ns deadline) override;
  bool poll_until(const poll& is_ready, time_ns deadline) override;
  bool sleep_on(completion& point, time_ns deadline) override;
  void note_wait(const wait_words& words) override { play_.note_wait(words); }
  [[nodiscard]] status why_let_go() override { return play_.why_let_go(); }
  [[nodiscard]] witness* seen() noexcept override { return seen_; }

protected:
  void start() override;
  void stop() override;

private:
  class unit;

  simulation& play_;
  witness* const seen_;
  caf::detail::test_actor_clock unused_clock_; // nothing of ours sends delayed messages
};

} // namespace troupe
