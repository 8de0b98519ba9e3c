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

answer request::wait(const std::function<bool()>& gone) {
  std::unique_lock lock(mutex_);
  while (!answer_) {
    const auto now = clock::now();
    if (now >= deadline_) {
      answer_ = answer{verdict::expired, {}, "the deadline passed before the answer was there"};
      break;
    }
    changed_.wait_until(lock, std::min(deadline_, now + look_every));
    if (answer_) break;
    lock.unlock();
    const auto left = gone();
    lock.lock();
    if (left && !answer_) answer_ = answer{verdict::cancelled, {}, "the client went away"};
  }
  return *answer_;
}

} // namespace troupe::server
