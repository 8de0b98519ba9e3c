#include "examples/server/request.hpp"

#include <algorithm>
#include <utility>

#include <gsl/gsl>

namespace troupe::server {

namespace {

constexpr std::chrono::milliseconds look_every{20};

} // namespace

request::request(std::span<const float> image, clock::time_point deadline) : deadline_(deadline) {
  Expects(image.size() == image_.size());
  std::ranges::copy(image, image_.begin());
}

void request::settle(answer a) {
  {
    const std::lock_guard lock(mutex_);
    if (answer_) return;
    answer_ = std::move(a);
  }
  changed_.notify_all();
}

bool request::settled() const {
  const std::lock_guard lock(mutex_);
  return answer_.has_value();
}

bool request::still_wanted(const std::function<bool()>& gone) {
  if (settled()) return false;
  if (clock::now() >= deadline_) {
    settle({verdict::expired, {}, "the deadline passed before the answer was there"});
  } else if (gone()) {
    settle({verdict::cancelled, {}, "the client went away"});
  }
  return !settled();
}

answer request::wait(const std::function<bool()>& gone) {
  std::unique_lock lock(mutex_);
  while (!answer_) {
    changed_.wait_until(lock, std::min(deadline_, clock::now() + look_every));
    if (answer_) break;
    lock.unlock();
    (void)still_wanted(gone);
    lock.lock();
  }
  return *answer_;
}

} // namespace troupe::server
