#pragma once

#include <array>
#include <memory>

#include <caf/actor_system_config.hpp>
#include <caf/detail/test_actor_clock.hpp>
#include <caf/execution_unit.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include "actors/scheduling/clock.hpp"
#include "actors/scheduling/completion.hpp"
#include "actors/scheduling/lane.hpp"
#include "actors/scheduling/scheduler.hpp"
#include "actors/scheduling/stage_config.hpp"
#include "actors/scheduling/timer_queue.hpp"

namespace troupe {

/// What the live scheduler is told when it is made.
struct scheduler_options {
  unsigned control_workers = 1;
  unsigned compute_threads = 2;
  unsigned dma_threads = 1;
  unsigned callback_threads_max = 64;
  unsigned spin_us = 20;
};

/// The configuration of a live runtime; how a CAF module learns its options.
class live_config final : public stage_config {
public:
  explicit live_config(const scheduler_options& options);

  const scheduler_options options;
};

/// The live scheduler, loaded into CAF as a module: four lanes, and waiters that lend their
/// threads to the control lane until their answer is there.
class coordinator final : public caf::scheduler::abstract_coordinator, public scheduler {
public:
  explicit coordinator(caf::actor_system& system);

  /// CAF's factory for modules.
  static caf::actor_system::module* make(caf::actor_system& system, caf::detail::type_list<>);

  // -- CAF's side -------------------------------------------------------------

  void enqueue(caf::resumable* job) override;
  caf::actor_clock& clock() noexcept override { return unused_clock_; }
  bool detaches_utility_actors() const override { return false; }

  // -- our side ---------------------------------------------------------------

  [[nodiscard]] lane& at(lane_id id) noexcept { return *lanes_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] const scheduler_options& options() const noexcept { return options_; }

  // -- scheduler --------------------------------------------------------------

  timer_queue::timer_id at_time(time_ns due, std::function<void()> action) override;
  bool cancel(timer_queue::timer_id id) override { return timers_->cancel(id); }
  [[nodiscard]] std::size_t pending_timers() const override { return timers_->size(); }
  [[nodiscard]] bool has_work(lane_id id) const noexcept override {
    return lanes_[static_cast<std::size_t>(id)]->has_work();
  }
  [[nodiscard]] bool ensure_served(lane_id id) override { return at(id).ensure_served(); }
  [[nodiscard]] bool replace_thread(lane_id id) override { return at(id).replace_thread(); }
  void thread_returned(lane_id id) override { at(id).thread_returned(); }
  [[nodiscard]] std::vector<std::string> join(time_ns deadline) override;
  [[nodiscard]] work_pace* pace() noexcept override { return nullptr; }

  /// Runs one control job on the calling thread, if there is one.
  bool run_one_control();

  // -- waiting_room -----------------------------------------------------------

  void begin_lending() noexcept override;
  void end_lending() override;
  bool poll_for(const poll& is_ready, time_ns deadline) override;
  bool poll_until(const poll& is_ready, time_ns deadline) override;
  bool sleep_on(completion& point, time_ns deadline) override;

protected:
  void start() override;
  void stop() override;

private:
  class unit;

  void run(caf::resumable* job);
  lane::hooks hooks_for(lane_id id);
  bool lends_here() const noexcept;

  const scheduler_options options_;
  const steady_clock time_;
  const std::shared_ptr<timer_queue> timers_ = std::make_shared<timer_queue>();
  std::array<std::shared_ptr<lane>, lane_count> lanes_;
  caf::detail::test_actor_clock unused_clock_; // nothing of ours sends delayed messages
  bool joined_ = false;
};

} // namespace troupe
