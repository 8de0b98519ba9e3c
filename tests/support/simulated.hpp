#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include <gtest/gtest.h>

#include "core/faults/fault_plan.hpp"
#include "troupe/testing.hpp"
#include "troupe/troupe.hpp"

namespace troupe {

/// A fresh context on device `index` of the stage's runtime.
[[nodiscard]] inline context make_context(testing::stage& play, std::int64_t index = 0) {
  return play.runtime().device(index).value().create_context().value();
}

/// An entry that strikes the first thing at `point`.
[[nodiscard]] inline fault_entry fault_at(fault_point point, fault_action action) {
  fault_entry made;
  made.pick.point = point;
  made.action = action;
  return made;
}

/// Options of a run with that one fault, called "the fault"; kernel "work" takes 1 ms.
[[nodiscard]] inline testing::simulation_options under(fault_entry entry) {
  testing::simulation_options made;
  entry.name = "the fault";
  made.faults.emplace();
  made.faults->entries = {std::move(entry)};
  made.costs.kernels["work"] = 1'000'000;
  return made;
}

/// Runs `body`, in which whoever waits must be let go.
inline testing::simulation_report play_out(const testing::simulation_options& options,
                                           const std::function<void(testing::stage&)>& body) {
  auto report = testing::simulate(options, body);
  EXPECT_FALSE(report.hang) << *report.hang;
  return report;
}

} // namespace troupe
