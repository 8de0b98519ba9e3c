#include "actors/engine_port.hpp"

#include <algorithm>

#include <gsl/gsl>

#include "actors/block_job.hpp"
#include "actors/engine_actor.hpp"
#include "actors/scheduling/spawn.hpp"
#include "actors/stream_record.hpp"

namespace troupe {

const char* to_string(engine_kind kind) noexcept {
  switch (kind) {
    case engine_kind::compute: return "compute";
    case engine_kind::dma_h2d: return "dma_h2d";
    case engine_kind::dma_d2h: return "dma_d2h";
    case engine_kind::dma_d2d: return "dma_d2d";
    case engine_kind::callback: return "callback";
  }
  return "unknown";
}

engine_port::engine_port(engine_kind kind, std::size_t engines_max, engine_maker make)
    : kind_(kind), make_(std::move(make)), engines_max_(engines_max) {
  Expects(engines_max > 0);
}

engine_port::~engine_port() = default;

// -- senders ------------------------------------------------------------------

void engine_port::push(stream_record& stream) {
  std::unique_lock lock(guard_);
  if (closed_) return; // the runtime is going down; the stream's end is published elsewhere
  auto& end = queues_[stream.priority()];
  stream.port_ticket = ++pushes_;
  stream.port_next = nullptr;
  stream.port_previous = end.last;
  (end.last != nullptr ? end.last->port_next : end.first) = &stream;
  end.last = &stream;
  stream.port.store(this, std::memory_order_seq_cst); // before the pusher's look at the abort mark
  best_waiting_.store(std::min(best_waiting_.load(std::memory_order_relaxed), stream.priority()),
                      std::memory_order_relaxed);
  waiting_.fetch_add(1, std::memory_order_relaxed);
  wake_one(lock);
}

void engine_port::offer(const std::shared_ptr<block_job>& job) {
  std::unique_lock lock(guard_);
  if (closed_) return;
  jobs_.push_back(job);
  job_count_.store(jobs_.size(), std::memory_order_relaxed);
  wake_one(lock);
}

void engine_port::withdraw(const block_job* job) {
  const std::lock_guard lock(guard_);
  std::erase_if(jobs_, [job](const auto& each) { return each.get() == job; });
  job_count_.store(jobs_.size(), std::memory_order_relaxed);
}

bool engine_port::remove(stream_record& stream) {
  const std::lock_guard lock(guard_);
  if (stream.port.load(std::memory_order_relaxed) != this) return false;
  unlink(stream);
  return true;
}

// An engine that lingers looks at the queue by itself: it is claimed without a message.
void engine_port::wake_one(std::unique_lock<std::mutex>& lock) {
  if (ringing_) return;
  if (lingering_.exchange(false, std::memory_order_acq_rel)) {
    ringing_ = true;
    return;
  }
  caf::actor called;
  if (!idle_.empty()) {
    called = std::move(idle_.back());
    idle_.pop_back();
  } else if (engines_.size() < engines_max_) {
    auto& slot = engines_.emplace_back();
    called = make_(*this, slot.load);
    slot.handle = called;
  }
  if (!called) return;
  ringing_ = true;
  lock.unlock();
  post(called, doorbell{});
}

// -- engines ------------------------------------------------------------------

engine_port::work engine_port::next() {
  if (!has_waiting() && !has_jobs()) return {};
  std::unique_lock lock(guard_);
  return take_and_wake(lock);
}

engine_port::work engine_port::next_or_idle(const caf::actor& engine,
                                            const std::function<bool()>& linger) {
  std::unique_lock lock(guard_);
  if (auto found = take_and_wake(lock)) return found;
  if (!closed_ && !lingering_.exchange(true, std::memory_order_acq_rel)) {
    lock.unlock();
    while (lingering_.load(std::memory_order_acquire) && linger()) {
    }
    lock.lock();
    lingering_.store(false, std::memory_order_release);
    if (auto found = take_and_wake(lock)) return found;
  }
  if (!closed_) idle_.push_back(engine);
  return {};
}

engine_port::work engine_port::take_and_wake(std::unique_lock<std::mutex>& lock) {
  ringing_ = false; // whoever was rung, somebody came
  auto found = take();
  if (found && !closed_ && (has_waiting() || has_jobs())) wake_one(lock);
  return found;
}

void engine_port::engine_ended(const caf::actor& engine) {
  const std::lock_guard lock(guard_);
  ringing_ = false;
  std::erase(idle_, engine);
}

engine_port::work engine_port::take() {
  if (auto* chosen = choose()) {
    auto held = chosen->shared_from_this();
    unlink(*chosen);
    return {std::move(held), nullptr};
  }
  if (!jobs_.empty()) {
    // A job stays listed until its blocks are all taken, so that several engines may help.
    auto job = jobs_.front();
    if (job->nearly_taken()) jobs_.pop_front();
    job_count_.store(jobs_.size(), std::memory_order_relaxed);
    return {nullptr, std::move(job)};
  }
  return {};
}

stream_record* engine_port::choose() {
  if (waiting_.load(std::memory_order_relaxed) == 0) return nullptr;
  const bool oldest_first = ++choices_ % fairness_interval == 0;
  stream_record* found = nullptr;
  for (auto& each : queues_) {
    if (each.first == nullptr) continue;
    if (!oldest_first) return each.first;
    if (found == nullptr || each.first->port_ticket < found->port_ticket) found = each.first;
  }
  return found;
}

void engine_port::unlink(stream_record& stream) {
  auto& end = queues_[stream.priority()];
  (stream.port_previous != nullptr ? stream.port_previous->port_next : end.first) =
      stream.port_next;
  (stream.port_next != nullptr ? stream.port_next->port_previous : end.last) =
      stream.port_previous;
  stream.port_next = nullptr;
  stream.port_previous = nullptr;
  stream.port.store(nullptr, std::memory_order_release);
  waiting_.fetch_sub(1, std::memory_order_relaxed);
  if (end.first == nullptr) refresh_best();
}

void engine_port::refresh_best() {
  unsigned best = 0;
  while (best < priority_count && queues_[best].first == nullptr) ++best;
  best_waiting_.store(best, std::memory_order_relaxed);
}

void engine_port::replace_engine() {
  std::unique_lock lock(guard_);
  ++engines_max_;
  if (!closed_ && waiting_.load(std::memory_order_relaxed) != 0) wake_one(lock);
}

void engine_port::end_engines() {
  std::vector<caf::actor> engines;
  std::deque<std::shared_ptr<block_job>> dropped_jobs; // released after the lock
  {
    const std::lock_guard lock(guard_);
    closed_ = true;
    idle_.clear();
    dropped_jobs.swap(jobs_);
    job_count_.store(0, std::memory_order_relaxed);
    for (auto& each : engines_) engines.push_back(std::move(each.handle));
    lingering_.store(false, std::memory_order_release);
    for (auto& each : queues_) {
      while (each.first != nullptr) unlink(*each.first);
    }
  }
  for (const auto& each : engines) {
    if (each) caf::anon_send_exit(each, caf::exit_reason::user_shutdown);
  }
}

engine_counters engine_port::snapshot(time_ns now) const {
  engine_counters seen;
  seen.commands = commands_elsewhere_.load(std::memory_order_relaxed);
  seen.bytes = bytes_elsewhere_.load(std::memory_order_relaxed);
  const std::lock_guard lock(guard_);
  seen.engines = engines_.size();
  seen.waiting = waiting_.load(std::memory_order_relaxed);
  for (const auto& each : engines_) each.load.add_to(seen, now);
  return seen;
}

void engine_load::add_to(engine_counters& sum, time_ns now) const noexcept {
  sum.commands += commands_.load(std::memory_order_relaxed);
  sum.bytes += bytes_.load(std::memory_order_relaxed);
  sum.busy_ns += busy_ns_.load(std::memory_order_relaxed);
  if (const auto since = running_since_.load(std::memory_order_relaxed); since != 0) {
    ++sum.running;
    sum.busy_ns += std::max<time_ns>(0, now - since);
  }
}

} // namespace troupe
