#include "troupe/testing.hpp"

#include <algorithm>
#include <utility>

#include <gsl/gsl>

#include "actors/simulation/simulation.hpp"
#include "api/src/liveness.hpp"
#include "api/src/run_options.hpp"
#include "api/src/runtime_maker.hpp"
#include "core/exploration/schedule_script.hpp"
#include "core/exploration/strategy.hpp"

namespace troupe::testing {
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

client stage::start_tenant(std::string name, std::uint32_t number,
                           std::function<void()> body) const {
  return start_client(std::move(name), [play = play_.get(), number, body = std::move(body)] {
    play->serve_tenant(number);
    body();
  });
}

void stage::observe(std::string name, std::span<const std::byte> bytes) const {
  if (const auto tenant = play_->tenant_here(); tenant != 0) {
    name = "tenant " + std::to_string(tenant) + ": " + name;
  }
  play_->record().observed[std::move(name)].emplace_back(bytes.begin(), bytes.end());
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
  if (!report.hang && !report.violations.empty()) {
    throw oracle_violated(describe(report.violations.front()));
  }
  return report;
}

simulation_report try_simulate(const simulation_options& asked,
                               const std::function<void(stage&)>& body) {
  const auto options = checked_options(asked);
  auto oracles = select_oracles(options.oracles_off, options.oracles);
  if (!oracles) throw error(oracles.error());
  simulation_report report;
  const auto play = make_play(options, report.strategy);
  play->keep_trace(options.keep_trace);
  play->measure_coverage(options.measure_coverage);
  play->limit_steps(options.steps_max);
  std::uint64_t aside = 0; // steps and time that are not the body's
  std::chrono::nanoseconds aside_ns{};
  try {
    play->run([&] {
      stage here(play, options);
      const auto account = gsl::finally([&] {
        report.faults = runtime_maker::report_of(here.runtime());
      });
      {
        const auto end = gsl::finally([&] { play->mark_end(); });
        body(here);
      }
      report.faults = runtime_maker::report_of(here.runtime());
      if (!options.faults || !play->alone()) return;
      const auto steps = play->steps();
      const auto since = here.elapsed();
      play->record().liveness = try_devices(*play, here.runtime());
      aside = play->steps() - steps;
      aside_ns = here.elapsed() - since;
      play->limit_steps(options.steps_max + aside);
    });
  } catch (const simulated_hang& hang) {
    report.hang = hang.what();
  } catch (...) {
    report.thrown = std::current_exception();
  }
  report.steps = play->steps() - aside;
  report.elapsed =
      std::chrono::nanoseconds(play->time().now() - virtual_clock::start) - aside_ns;
  report.order_hash = play->order().value();
  report.script = play->script();
  report.trace = play->trace();
  report.chain = play->chain();
  report.covered = play->covered();
  report.record = std::move(play->record());
  report.record.hung = report.hang.has_value();
  report.further_faults = play->further_faults();
  report.unmet = unmet_entries(options, play->unmet(), report.faults);
  report.unused_costs = unused_costs(options.costs, report.record);
  report.violations = judge(report.record, oracles.value());
  if (auto lost = lost_names(options, report.record); !lost.empty()) {
    report.violations.push_back({"names", std::move(lost)});
  }
  return report;
}

} // namespace troupe::testing
