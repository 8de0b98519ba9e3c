#pragma once

#include <cstdint>

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

} // namespace troupe
