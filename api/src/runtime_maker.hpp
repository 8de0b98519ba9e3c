#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "actors/faults/fault_gate.hpp"
#include "actors/machine.hpp"
#include "actors/simulation/simulation.hpp"
#include "troupe/runtime.hpp"

namespace troupe {

/// Makes runtimes that are played in a simulation, and looks into them.
struct runtime_maker {
  /// Throws `troupe::error` for bad options or a bad plan.
  [[nodiscard]] static runtime make(runtime_options options, simulation* play,
                                    std::optional<fault_plan> faults) {
    options.validate().or_throw();
    if (faults) faults->validate().or_throw();
    if (play != nullptr) play->check_client();
    return runtime(machine::create(std::move(options), play, std::move(faults)));
  }

  [[nodiscard]] static machine& home_of(const runtime& of) { return *of.home_; }

  /// Null once `of` was moved from.
  [[nodiscard]] static std::shared_ptr<machine> share(const runtime& of) { return of.home_; }

  [[nodiscard]] static fault_report report_of(const machine& of) {
    const auto* gate = of.gate();
    return gate != nullptr ? gate->report() : fault_report{};
  }
};

} // namespace troupe
