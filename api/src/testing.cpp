#include "troupe/testing.hpp"

#include <utility>

#include <gsl/gsl>

#include "actors/faults/fault_gate.hpp"
#include "actors/machine.hpp"
#include "actors/simulation/simulation.hpp"
#include "core/exploration/schedule_script.hpp"
#include "core/exploration/strategy.hpp"

namespace troupe {

struct runtime_maker {
  static runtime make(runtime_options options, simulation* play,
                      std::optional<fault_plan> faults) {
    options.validate().or_throw();
    if (faults) faults->validate().or_throw();
    return runtime(machine::create(std::move(options), play, std::move(faults)));
  }

  static fault_report report_of(const runtime& of) {
    return of.home_->gate() != nullptr ? of.home_->gate()->report() : fault_report{};
  }
};

namespace testing {
namespace {

std::shared_ptr<simulation> make_play(const simulation_options& options, std::string& strategy) {
  const auto mode =
      options.ends == work_end::any_order ? time_mode::free : time_mode::exact;
  simulation::chooser_maker make;
  if (options.replay_script) {
    auto script = parse_schedule_script(*options.replay_script);
    if (!script) throw error(script.error());
    strategy = "script";
    make = [script = std::move(script).value()](const channel_table& names) {
      return make_chooser(script, &names);
    };
  } else {
    strategy_draw draw;
    if (options.choice == order::explore) {
      draw = draw_strategy(options.seed, std::max<std::uint64_t>(1, options.expected_steps));
    }
    strategy = to_string(draw);
    make = [draw](const channel_table&) { return make_chooser(draw); };
  }
  return std::make_shared<simulation>(make, mode, options.costs);
}

} // namespace

// -- client -------------------------------------------------------------------

client::client(std::shared_ptr<simulation> play, std::size_t number)
    : play_(std::move(play)), number_(number) {}

void client::join() { play_->join_client(number_); }

// -- stage --------------------------------------------------------------------

stage::stage(std::shared_ptr<simulation> play, const simulation_options& options)
    : play_(std::move(play)),
      runtime_(std::make_unique<troupe::runtime>(
          make_runtime(options.runtime, options.faults))) {}

stage::~stage() = default;

troupe::runtime stage::make_runtime(runtime_options options,
                                    std::optional<fault_plan> faults) const {
  return runtime_maker::make(std::move(options), play_.get(), std::move(faults));
}

client stage::start_client(std::string name, std::function<void()> body) const {
  return {play_, play_->start_client(std::move(name), std::move(body))};
}

void stage::pass_time(std::chrono::nanoseconds length) const {
  completion never;
  (void)play_->wait({&completion::ready, &never}, after(play_->time().now(), length.count()));
}

void stage::wait_until(const std::function<bool()>& holds) const {
  while (!holds()) play_->poll_pause();
}

std::chrono::nanoseconds stage::elapsed() const {
  return std::chrono::nanoseconds(play_->time().now() - virtual_clock::start);
}

// -- runs ---------------------------------------------------------------------

simulation_report simulate(const simulation_options& options,
                           const std::function<void(stage&)>& body) {
  auto report = try_simulate(options, body);
  if (report.thrown) std::rethrow_exception(report.thrown);
  return report;
}

simulation_report try_simulate(const simulation_options& options,
                               const std::function<void(stage&)>& body) {
  simulation_report report;
  const auto play = make_play(options, report.strategy);
  play->keep_trace(options.keep_trace);
  play->limit_steps(options.steps_max);
  try {
    play->run([&] {
      stage here(play, options);
      const auto account = gsl::finally([&] {
        report.faults = runtime_maker::report_of(here.runtime());
      });
      body(here);
    });
  } catch (const simulated_hang& hang) {
    report.hang = hang.what();
  } catch (...) {
    report.thrown = std::current_exception();
  }
  report.steps = play->steps();
  report.elapsed = std::chrono::nanoseconds(play->time().now() - virtual_clock::start);
  report.order_hash = play->order().value();
  report.script = play->script();
  report.trace = play->trace();
  return report;
}

} // namespace testing
} // namespace troupe
