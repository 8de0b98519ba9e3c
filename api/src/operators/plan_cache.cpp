#include "api/src/operators/plan_cache.hpp"

#include <pthread.h>

#include "troupe/operators/run_operator.hpp"

namespace troupe::operators {

std::shared_ptr<const plan> plan_cache::find(const std::string& key) {
  const std::lock_guard lock(guard_);
  const auto at = places_.find(key);
  if (at == places_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, at->second);
  return at->second->second;
}

// Made without the lock, as that may take milliseconds; of two made at once the first stays.
std::shared_ptr<const plan> plan_cache::get(const operator_description& d) {
  const auto key = to_text(d);
  if (auto known = find(key)) return known;
  auto made = std::make_shared<const plan>(make_plan(d));
  const std::lock_guard lock(guard_);
  if (const auto at = places_.find(key); at != places_.end()) return at->second->second;
  entries_.emplace_front(key, made);
  places_.emplace(key, entries_.begin());
  if (entries_.size() > limit_) {
    places_.erase(entries_.back().first);
    entries_.pop_back();
  }
  return made;
}

std::size_t plan_cache::size() const {
  const std::lock_guard lock(guard_);
  return entries_.size();
}

namespace {

plan_cache& instance() {
  static plan_cache made(prepared_operators_max);
  return made;
}

} // namespace

plan_cache& plans() {
  // The child of a fork has no other thread that could give the lock back.
  [[maybe_unused]] static const int registered =
      pthread_atfork([] { instance().hold(); }, [] { instance().release(); },
                     [] { instance().release(); });
  return instance();
}

} // namespace troupe::operators
