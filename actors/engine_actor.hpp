#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include <caf/allowed_unsafe_message_type.hpp>

#include "actors/scheduling/actor_base.hpp"
#include "actors/engine_port.hpp"
#include "actors/stream_drive.hpp"
#include "core/faults/fault_report.hpp"

namespace troupe {

class command_queue;
class fault_gate;
class graph_replay;
class machine;
class witness;
class work_pace;

/// Rings an engine that sleeps: its port has work.
struct doorbell {};

/// Tells an engine whose work takes modelled time that command `number` of its stream is due.
struct work_due {
  std::uint64_t number;
};

/// An engine of a device: one core of the compute engine, a DMA engine, or a thread's worth of the
/// callback runner. Rung by `doorbell`, it takes streams from its port until none is left. It runs
/// user code and copies, so it lives on a lane of its own kind.
///
/// Where time is modelled it engages itself for each piece of work, which it does when that is due
/// (`work_due`): effects show at the end.
class engine_actor : public actor_base, private executor {
public:
  engine_actor(caf::actor_config& config, machine& home, engine_port& port, engine_load& load);

  void on_exit() override;
  [[nodiscard]] const char* state_word() const override { return engaged_ ? "engaged" : "free"; }

private:
  caf::behavior handlers() override;
  void start_again(const status& why) override;
  void serve();
  [[nodiscard]] engine_port::work wait_for_work(const caf::actor& self);
  bool worth_lingering();

  [[nodiscard]] bool executes(command_kind kind) const noexcept override;
  [[nodiscard]] bool turn_over(const stream_record& stream) noexcept override;
  [[nodiscard]] progress execute(stream_record& stream, command& c, status& outcome) override;
  [[nodiscard]] bool worth_staying(unsigned looks, bool hurry) const noexcept override;
  void requeue(stream_record& stream) override;

  status run_kernel(stream_record& stream, command& c);
  [[nodiscard]] progress run_copy(stream_record& stream, command& c);
  status run_callback(stream_record& stream, command& c);

  // -- a graph, step by step: see graphs/engine_graphs.cpp
  [[nodiscard]] progress run_graph(stream_record& stream, command& c, status& outcome);
  status run_lanes(stream_record& stream, command& c);
  [[nodiscard]] progress run_step(stream_record& stream, command& step, status& outcome);

  // -- work whose time is modelled, or that a fault befalls: see engine_pacing.cpp
  using strike = std::optional<fault_activation>;
  [[nodiscard]] strike what_befalls(stream_record& stream, const command& c);
  void look_around();
  void serve_paced();
  void end_engagement(std::uint64_t number);
  [[nodiscard]] std::optional<progress> before_running(stream_record& stream, command& c,
                                                       status& outcome);
  [[nodiscard]] progress after_running(stream_record& stream, command& c, status& outcome);
  [[nodiscard]] progress engage_for(stream_record& stream, const command& c, strike by);
  progress engage(stream_record& stream, const command& c, time_ns due);

  struct engagement {
    std::shared_ptr<stream_record> stream;
    const command_queue* queue;
    std::uint64_t number;
    time_ns due;
    std::optional<fault_activation> by; // what befalls it when it is due
    std::optional<status> done;         // it has run, and only its end is late
  };

  machine& home_;
  work_pace* const pace_;
  fault_gate* const gate_;
  witness* const seen_;
  const bool watched_; // one of the three
  std::optional<engagement> engaged_;
  std::uint64_t due_number_ = 0; // the command whose time is over, to be run now
  std::optional<status> due_outcome_;
  graph_replay* walking_ = nullptr; // the graph whose step it runs
  std::optional<fault_activation> struck_; // what befalls the command that runs now
  engine_port& port_;
  engine_load& load_;
  const std::function<bool()> linger_;
  bool busy_ = false;
  bool makes_way_ = false; // for a fresh engine, which takes up what this one leaves
  status ended_by_;        // the fault that ends it; success: none that it knows of
  unsigned turn_ = 0; // commands executed for the stream at hand
  time_ns linger_until_ = 0;
  unsigned linger_looks_ = 0;
  time_ns began_ = 0; // the command that a fault befalls
};

/// The lane that engines of `kind` run on.
[[nodiscard]] lane_id lane_for(engine_kind kind) noexcept;

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::doorbell)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::work_due)
