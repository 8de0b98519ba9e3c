#include "actors/scheduling/job.hpp"

#include <caf/actor_control_block.hpp>

#include "actors/scheduling/actor_base.hpp"

namespace troupe {
namespace {

// The reference is given back without a look at the actor after the announcement, as the actor may
// be gone with another thread's reference by then.
void let_go(caf::resumable* job) {
  auto* ours = cast_member(job);
  if (ours == nullptr) {
    intrusive_ptr_release(job);
    return;
  }
  auto* block = ours->ctrl();
  announce_release(ours);
  caf::intrusive_ptr_release(block);
}

} // namespace

actor_base* cast_member(caf::resumable* job) {
  return job->subtype() == caf::resumable::io_actor ? static_cast<actor_base*>(job) : nullptr;
}

void announce_queued(caf::resumable* job) {
  if (auto* ours = cast_member(job)) announce_release(ours);
}

bool run_job(caf::resumable* job, caf::execution_unit& here, std::size_t messages_max) {
  switch (job->resume(&here, messages_max)) {
    case caf::resumable::resume_later: return true;
    case caf::resumable::done:
    case caf::resumable::awaiting_message: let_go(job); break;
    case caf::resumable::shutdown_execution_unit: break;
  }
  return false;
}

} // namespace troupe
