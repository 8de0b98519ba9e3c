// The part of `simulation` that runtimes talk to: messages, jobs, timers and work.

#include <algorithm>
#include <string>
#include <utility>

#include <gsl/gsl>

#include "actors/context_record.hpp"
#include "actors/device_record.hpp"
#include "actors/payloads.hpp"
#include "actors/scheduling/actor_base.hpp"
#include "actors/scheduling/job.hpp"
#include "actors/simulation/message_kind.hpp"
#include "actors/simulation/sim_coordinator.hpp"
#include "actors/simulation/simulation.hpp"
#include "actors/stream_record.hpp"

namespace troupe {

// -- wire, work_pace ------------------------------------------------------------

void simulation::pass(wired_actor& target, caf::mailbox_element_ptr element,
                      caf::execution_unit* unit) {
  auto& box = mailbox_of(target.self());
  box.kinds.push_back(kinds_.intern(message_kind_of(*element)));
  if (keeps_trace_) box.sent_at.push_back(steps_);
  target.deliver(std::move(element), unit);
}

time_ns simulation::cost_of(const stream_record& stream, const command& c,
                            std::size_t chunk_bytes) const {
  const auto& profile = stream.context().device().profile();
  if (is_copy(c.kind)) {
    const auto& copy = c.as<copy_payload>();
    const auto bytes = std::min(copy.bytes - copy.done, chunk_bytes);
    return costs_.copy_ns(profile, c.kind == command_kind::copy_d2d, bytes, copy.done == 0);
  }
  return c.kind == command_kind::callback ? costs_.callback_ns : costs_.kernel_ns(profile, c);
}

// -- from the coordinator -------------------------------------------------------

std::size_t simulation::number_of(const caf::actor_system& system) {
  const auto found = std::find(systems_.begin(), systems_.end(), &system);
  if (found != systems_.end()) return gsl::narrow<std::size_t>(found - systems_.begin());
  systems_.push_back(&system);
  return systems_.size() - 1;
}

simulation::mailbox& simulation::mailbox_of(const actor_base& who) {
  const auto runtime = number_of(who.home_system());
  auto& found = mailboxes_[{runtime, who.id()}];
  if (found.channel == no_channel) {
    auto name = std::string(who.name()) + " " + std::to_string(who.id());
    if (runtime != 0) name += " of runtime " + std::to_string(runtime + 1);
    found.channel = channels_.intern(name);
  }
  return found;
}

void simulation::forget(const sim_coordinator& owner) {
  std::vector<pending> dropped; // ended after they are out of the books
  for (auto each = pending_.begin(); each != pending_.end();) {
    if (each->second.owner != &owner) {
      ++each;
      continue;
    }
    dropped.push_back(std::move(each->second));
    due_.erase(each->first.second);
    each = pending_.erase(each);
  }
}

void simulation::enqueue(caf::resumable* job, sim_coordinator& owner) {
  const auto* ours = cast_member(job);
  jobs_.push_back({job, &owner, ours != nullptr ? &mailbox_of(*ours) : nullptr, steps_});
}

timer_queue::timer_id simulation::add(time_ns due, pending what) {
  const auto id = ++last_id_;
  what.arrived = steps_;
  pending_.emplace(due_key{due, id}, std::move(what));
  due_.emplace(id, due);
  return id;
}

timer_queue::timer_id simulation::at_time(time_ns due, std::function<void()> action,
                                          const sim_coordinator& owner) {
  return add(due, {source::timer, timer_channel_, ++timers_set_, 0, std::move(action), &owner});
}

bool simulation::cancel(timer_queue::timer_id id) {
  const auto due = due_.find(id);
  if (due == due_.end()) return false;
  const auto found = pending_.find({due->second, id});
  const auto dropped = std::move(found->second);
  pending_.erase(found);
  due_.erase(due);
  return true;
}

std::size_t simulation::pending_timers() const {
  return static_cast<std::size_t>(
      std::count_if(pending_.begin(), pending_.end(),
                    [](const auto& each) { return each.second.from == source::timer; }));
}

void simulation::work_until(time_ns due, const actor_base& engine, std::function<void()> ended,
                            const sim_coordinator& owner) {
  auto& box = mailbox_of(engine);
  if (box.work_channel == no_channel) {
    box.work_channel = channels_.intern(channels_.name(box.channel) + " works");
  }
  (void)add(due, {source::work, box.work_channel, ++box.works, 0, std::move(ended), &owner});
}

} // namespace troupe
