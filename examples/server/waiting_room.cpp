#include "examples/server/waiting_room.hpp"

#include <algorithm>
#include <utility>

#include <gsl/gsl>

namespace troupe::server {

waiting_room::admission waiting_room::enter(const std::shared_ptr<request>& r) {
  const std::lock_guard lock(mutex_);
  if (closed_) return {entry::closed, no_lane};
  const auto idle = std::ranges::find(seats_, use::idle, &seat::by);
  if (idle != seats_.end()) {
    idle->by = use::lent;
    return {entry::admitted, static_cast<std::size_t>(idle - seats_.begin())};
  }
  if (line_.size() >= places_) return {entry::full, no_lane};
  line_.push_back(r);
  return {entry::admitted, no_lane};
}

void waiting_room::give_back(std::size_t lane, std::shared_ptr<request> left) {
  const std::lock_guard lock(mutex_);
  auto& mine = seats_.at(lane);
  Expects(mine.by == use::lent);
  mine.left = std::move(left);
  const auto wanted = mine.left != nullptr || !line_.empty() || closed_;
  mine.by = wanted ? use::own : use::idle;
  if (wanted) mine.called.notify_one();
}

std::vector<std::shared_ptr<request>> waiting_room::take(std::size_t lane, std::size_t most) {
  std::vector<std::shared_ptr<request>> batch;
  std::unique_lock lock(mutex_);
  auto& mine = seats_.at(lane);
  while (batch.empty()) {
    if (line_.empty() && !closed_) {
      mine.by = use::idle;
      mine.called.wait(lock, [&] { return mine.by == use::own; });
    }
    if (mine.left != nullptr) {
      batch.push_back(std::exchange(mine.left, nullptr));
      break;
    }
    if (line_.empty() && closed_) break;
    while (!line_.empty() && batch.size() < most) {
      if (!line_.front()->settled()) batch.push_back(std::move(line_.front()));
      line_.pop_front();
    }
  }
  return batch;
}

// An idle lane's thread is called to its end; a lent lane's when it is given back.
void waiting_room::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (auto& each : seats_) {
    if (each.by != use::idle) continue;
    each.by = use::own;
    each.called.notify_one();
  }
}

std::size_t waiting_room::waiting() const {
  const std::lock_guard lock(mutex_);
  return line_.size();
}

bool waiting_room::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

} // namespace troupe::server
