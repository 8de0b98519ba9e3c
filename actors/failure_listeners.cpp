#include "actors/failure_listeners.hpp"

#include <string>
#include <utility>

#include "actors/user_scope.hpp"

namespace troupe {

result<std::uint64_t> failure_listeners::add(failure_listener listener) {
  if (!listener) return make_status(code::bad_argument, "a failure listener that is null");
  const std::lock_guard lock(guard_);
  if (all_.size() >= listeners_max) {
    error_record record;
    record.what = code::over_limit;
    record.message = "the runtime has " + std::to_string(listeners_max) +
                     " failure listeners, its limit";
    record.lacking = shortage{"failure listeners", 1, all_.size(), listeners_max};
    return status(std::move(record));
  }
  all_.emplace(++last_, std::move(listener));
  count_.store(all_.size(), std::memory_order_release);
  return last_;
}

status failure_listeners::remove(std::uint64_t number) {
  failure_listener gone; // let go after the lock
  const std::lock_guard lock(guard_);
  const auto found = all_.find(number);
  if (found == all_.end()) {
    return make_status(code::invalid_handle,
                       "there is no failure listener " + std::to_string(number));
  }
  gone = std::move(found->second);
  all_.erase(found);
  count_.store(all_.size(), std::memory_order_release);
  return {};
}

bool failure_listeners::begin_notice() noexcept {
  if (pending_.fetch_add(1) < pending_max) return true;
  pending_.fetch_sub(1);
  missed_.fetch_add(1);
  return false;
}

void failure_listeners::tell(const error_record& failure) {
  std::map<std::uint64_t, failure_listener> all;
  {
    const std::lock_guard lock(guard_);
    all = all_;
  }
  const user_scope inside({user_scope::what::callback, "failure listener", failure.stream});
  for (const auto& [number, listener] : all) {
    try {
      listener(failure);
    } catch (...) { // it is told of failures and can cause none
    }
  }
}

} // namespace troupe
