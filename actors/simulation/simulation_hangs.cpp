// The part of `simulation` that is about what got lost and who waits for ever.

#include <algorithm>
#include <sstream>
#include <utility>

#include "actors/simulation/simulation.hpp"

namespace troupe {

// -- looking for losses -----------------------------------------------------------

bool simulation::look_out() {
  bool found = false;
  for (auto& each : lookouts_) {
    if (!each.look || each.next > time_.now()) continue;
    each.next = after(time_.now(), each.interval);
    found |= each.look();
  }
  return found;
}

std::size_t simulation::enlist(std::function<std::string()> describe) {
  lookouts_.push_back({0, never_ns, nullptr, std::move(describe)});
  return lookouts_.size() - 1;
}

void simulation::look_every(std::size_t number, time_ns interval, std::function<bool()> look) {
  auto& entry = lookouts_[number];
  entry.interval = interval;
  entry.next = after(time_.now(), interval);
  entry.look = std::move(look);
}

void simulation::strike_off(std::size_t number) {
  lookouts_[number].look = nullptr;
  lookouts_[number].describe = nullptr;
}

// -- hangs --------------------------------------------------------------------

bool simulation::anybody_left() const {
  return std::any_of(clients_.begin(), clients_.end(),
                     [](const auto& each) { return !each->done; });
}

void simulation::doom_all() {
  mark_end();
  std::ostringstream report;
  if (steps_ >= steps_max_) {
    report << "the run goes on after " << steps_max_ << " steps; who waits:";
    steps_max_ = UINT64_MAX; // so that all can unwind
  } else {
    report << "nothing can happen any more, and somebody waits:";
  }
  for (const auto& each : clients_) {
    if (each->done) continue;
    each->doomed = true;
    report << " client '" << each->name << "'";
  }
  for (const auto& each : lookouts_) {
    if (each.describe) report << each.describe();
  }
  hang_ = std::move(report).str();
}

} // namespace troupe
