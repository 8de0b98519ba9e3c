#include "actors/faults/killed_by.hpp"

#include <utility>

#include <caf/actor_cast.hpp>

#include "actors/faults/fault_gate.hpp"
#include "actors/machine.hpp"
#include "actors/scheduling/actor_base.hpp"

namespace troupe {

std::string killed_by(const machine& home, const caf::actor& who) {
  if (home.gate() == nullptr || !who) return {};
  return home.gate()->entry_that_killed(
      static_cast<const actor_base&>(*caf::actor_cast<caf::abstract_actor*>(who)));
}

status blamed_on_death(status failed, const machine& home, const caf::actor& who) {
  if (failed.ok() || home.gate() == nullptr) return failed;
  error_record record;
  if (failed.record()) record = *failed.record();
  if (!record.plan_entry.empty()) return failed;
  record.plan_entry = killed_by(home, who);
  if (record.plan_entry.empty()) return failed;
  record.what = failed.code();
  record.message = failed.message();
  return status(std::move(record));
}

} // namespace troupe
