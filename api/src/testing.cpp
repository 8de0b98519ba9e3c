#include "troupe/testing.hpp"

#include <algorithm>
#include <utility>

#include <gsl/gsl>

#include "actors/simulation/simulation.hpp"
#include "actors/user_scope.hpp"
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

// For calls that have no status to tell it by.
void end_if_let_go(simulation& play) {
  if (!play.why_let_go().ok()) throw simulated_hang(*play.hang());
}

} // namespace

// -- client -------------------------------------------------------------------

client::client(std::shared_ptr<simulation> play, std::size_t number)
    : play_(std::move(play)), number_(number) {}

void client::join() {
  user_scope::refuse_inside("client::join").or_throw();
  play_->join_client(number_);
}

// -- stage --------------------------------------------------------------------

stage::stage(std::shared_ptr<simulation> play, const simulation_options& options)
    : play_(std::move(play)),
      runtime_(std::make_unique<troupe::runtime>(
          runtime_maker::make(options.runtime, play_.get(), options.faults))) {}

stage::~stage() = default;

troupe::runtime stage::make_runtime(runtime_options options,
                                    std::optional<fault_plan> faults) const {
  user_scope::refuse_inside("stage::make_runtime").or_throw();
  return runtime_maker::make(std::move(options), play_.get(), std::move(faults));
}

client stage::start_client(std::string name, std::function<void()> body) const {
  user_scope::refuse_inside("stage::start_client").or_throw();
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
  play_->check_client();
  if (const auto tenant = play_->tenant_here(); tenant != 0) {
    name = "tenant " + std::to_string(tenant) + ": " + name;
  }
  play_->record().observed[std::move(name)].emplace_back(bytes.begin(), bytes.end());
}

void stage::pass_time(std::chrono::nanoseconds length) const {
  user_scope::refuse_inside("stage::pass_time").or_throw();
  play_->note_call("stage::pass_time");
  const auto until = after(play_->time().now(), length.count());
  completion never;
  (void)play_->wait({&completion::ready, &never}, until);
  end_if_let_go(*play_);
}

void stage::wait_until(const std::function<bool()>& holds) const {
  user_scope::refuse_inside("stage::wait_until").or_throw();
  while (!holds()) {
    play_->note_call("stage::wait_until");
    (void)play_->poll_pause();
    end_if_let_go(*play_);
  }
}

std::chrono::nanoseconds stage::elapsed() const {
  play_->check_client();
  return std::chrono::nanoseconds(play_->time().now() - virtual_clock::start);
}

// -- runs ---------------------------------------------------------------------

simulation_report simulate(const simulation_options& options,
                           const std::function<void(stage&)>& body) {
  auto report = try_simulate(options, body);
  if (report.hang) return report;
  if (report.thrown) std::rethrow_exception(report.thrown);
  if (!report.violations.empty()) {
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
      const auto home = runtime_maker::share(here.runtime());
      std::exception_ptr thrown;
      try {
        const auto end = gsl::finally([&] { play->mark_end(); });
        body(here);
      } catch (...) {
        thrown = std::current_exception();
      }
      report.faults = runtime_maker::report_of(*home);
      const bool whole = !thrown && !play->hang() && play->alone() &&
                         home == runtime_maker::share(here.runtime());
      if (whole && options.faults) {
        const auto steps = play->steps();
        const auto since = here.elapsed();
        play->record().liveness = try_devices(*play, here.runtime());
        aside = play->steps() - steps;
        aside_ns = here.elapsed() - since;
        play->limit_steps(options.steps_max + aside);
      }
      // Stage and runtime are there for as long as anybody may call them.
      thrown = play->end_clients(thrown);
      report.faults = runtime_maker::report_of(*home);
      if (thrown) std::rethrow_exception(thrown);
    });
  } catch (...) {
    report.thrown = std::current_exception();
  }
  report.hang = play->hang();
  if (report.thrown && play->tells_hang_only(report.thrown)) report.thrown = nullptr;
  report.steps = report.hang ? play->hang_step() : play->steps() - aside;
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
