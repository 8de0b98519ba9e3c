#include "examples/server/waiting_room.hpp"

#include <utility>

namespace troupe::server {

waiting_room::entry waiting_room::enter(std::shared_ptr<request> r) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return entry::closed;
    if (line_.size() >= places_) return entry::full;
    line_.push_back(std::move(r));
  }
  entered_.notify_one();
  return entry::admitted;
}

std::vector<std::shared_ptr<request>> waiting_room::take(std::size_t most) {
  std::vector<std::shared_ptr<request>> batch;
  std::unique_lock lock(mutex_);
  while (batch.empty()) {
    entered_.wait(lock, [this] { return !line_.empty() || closed_; });
    if (line_.empty()) break;
    while (!line_.empty() && batch.size() < most) {
      if (!line_.front()->settled()) batch.push_back(std::move(line_.front()));
      line_.pop_front();
    }
  }
  return batch;
}

void waiting_room::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  entered_.notify_all();
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
