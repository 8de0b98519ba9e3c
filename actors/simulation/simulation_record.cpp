// What a simulation says about its run: who watches, what was seen, and why it happened.
#include <algorithm>

#include <gsl/gsl>

#include "actors/scheduling/actor_base.hpp"
#include "actors/scheduling/job.hpp"
#include "actors/simulation/message_kind.hpp"
#include "actors/simulation/sim_coordinator.hpp"
#include "actors/simulation/simulation.hpp"
#include "actors/simulation/witness.hpp"

namespace troupe {

// -- who watches, what is left ---------------------------------------------------

bool simulation::alone() const {
  return std::count_if(clients_.begin(), clients_.end(),
                       [](const auto& each) { return !each->done; }) == 1;
}

witness* simulation::watch_runtime() {
  const auto number = gsl::narrow<std::uint32_t>(witnesses_.size() + 1);
  witnesses_.push_back(std::make_unique<witness>(*this, record_, number));
  return witnesses_.back().get();
}

std::vector<fault_report> simulation::further_faults() const {
  std::vector<fault_report> made;
  for (std::size_t i = 1; i < witnesses_.size(); ++i) {
    if (const auto* by = witnesses_[i]->injector()) made.push_back(by->report());
  }
  return made;
}

std::size_t simulation::left_of(const scheduler& owner) const {
  const auto is_of = [&owner](const sim_coordinator* each) {
    return static_cast<const scheduler*>(each) == &owner;
  };
  const auto waiting = std::count_if(pending_.begin(), pending_.end(), [&](const auto& each) {
    return is_of(each.second.owner);
  });
  const auto ready = std::count_if(jobs_.begin(), jobs_.end(),
                                   [&](const ready_job& each) { return is_of(each.owner); });
  return gsl::narrow<std::size_t>(waiting + ready);
}

// -- what was seen and why it happened -------------------------------------------

// CAF's own messages, and the start of an actor, are none that it can be asked.
void simulation::cover(const actor_base& who, const std::string& kind) {
  if (kind == kind_of_caf || kind == kinds_.name(starts_)) return;
  ++covered_.messages[{who.name(), who.state_word(), kind, record_.faults != 0}];
  auto& last = mailbox_of(who).last_kind;
  if (!last.empty()) ++covered_.pairs[{who.name(), last, kind}];
  last = kind;
}

// Before it happens.
std::uint64_t simulation::cause_of(const offer& what, const choice& as) {
  if (what.from == source::client) {
    const auto& who = *clients_[what.index];
    const bool waited = who.ready != nullptr;
    return std::min(waited ? who.ready_since : as.arrived, steps_ - 1);
  }
  if (what.from == source::job) {
    const auto& box = *jobs_[what.index].box;
    if (!box.sent_at.empty()) return box.sent_at.front();
  }
  return as.arrived;
}

std::vector<std::string> simulation::chain() const {
  constexpr std::size_t lines_max = 40;
  std::vector<std::string> lines;
  for (const auto at : causal_chain(causes_, end_step_ != 0 ? end_step_ : steps_, lines_max)) {
    lines.push_back(trace_[at]);
  }
  return lines;
}

} // namespace troupe
