#include "actors/engine_port.hpp"

#include <algorithm>
#include <new>

#include <gsl/gsl>

#include "actors/block_job.hpp"
#include "actors/engine_actor.hpp"
#include "actors/scheduling/relax.hpp"
#include "actors/scheduling/spawn.hpp"
#include "actors/stream_drive.hpp"
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

engine_port::engine_port(engine_kind kind, std::size_t engines_max, engine_maker make,
                         const slot_table& slots, fault_gate* gate)
    : kind_(kind), slots_(slots), gate_(gate), make_(std::move(make)), engines_max_(engines_max),
      sleepers_(engines_max) {
  Expects(engines_max > 0);
}

engine_port::~engine_port() = default;

// -- senders ------------------------------------------------------------------

// Whoever finds the inbox empty sees to it that an engine comes; what is pushed until then comes
// along. No engine need be called while one lingers, while one that was rung has not come, or while
// all are awake: each looks at the inbox once more after it has said that it will not.
void engine_port::push(stream_record& stream) {
  if (gate_ != nullptr) [[unlikely]] return push_gated(stream);
  const auto priority = stream.priority();
  stream.port.store(this, std::memory_order_seq_cst); // before the pusher's look at the abort mark
  auto* newest = inbox_.load(std::memory_order_relaxed);
  do {
    stream.port_next = newest;
  } while (!inbox_.compare_exchange_weak(newest, &stream, std::memory_order_seq_cst,
                                         std::memory_order_relaxed));
  // From here on the stream may be anywhere.
  note_priority(priority);
  if (closed_.load(std::memory_order_seq_cst)) {
    std::unique_lock lock(guard_);
    return refuse_all(lock);
  }
  if (newest != nullptr || lingering_.load(std::memory_order_seq_cst) ||
      ringing_.load(std::memory_order_seq_cst) || sleepers_.load(std::memory_order_seq_cst) == 0) {
    return;
  }
  std::unique_lock lock(guard_);
  if (has_waiting()) wake_one(lock);
}

void engine_port::recount_sleepers() noexcept {
  const auto in_use = engines_in_use();
  const auto could_be_made = engines_max_ > in_use ? engines_max_ - in_use : 0;
  sleepers_.store(idle_.size() + could_be_made, std::memory_order_seq_cst);
}

void engine_port::note_priority(unsigned priority) noexcept {
  auto best = best_waiting_.load(std::memory_order_relaxed);
  while (priority < best && !best_waiting_.compare_exchange_weak(best, priority)) {
  }
}

void engine_port::put_in_line(stream_record& stream) {
  auto& end = queues_[stream.priority()];
  stream.port_ticket = ++pushes_;
  stream.port_next = nullptr;
  stream.port_previous = end.last;
  (end.last != nullptr ? end.last->port_next : end.first) = &stream;
  end.last = &stream;
}

// Moves the inbox to the queues, the oldest first.
void engine_port::sort_in() {
  if (inbox_.load(std::memory_order_seq_cst) == nullptr) return;
  stream_record* oldest = nullptr;
  for (auto* each = inbox_.exchange(nullptr, std::memory_order_seq_cst); each != nullptr;) {
    auto* following = each->port_next;
    each->port_next = oldest;
    oldest = each;
    each = following;
  }
  std::size_t added = 0;
  for (auto* each = oldest; each != nullptr; ++added) {
    auto* following = each->port_next;
    put_in_line(*each);
    each = following;
  }
  waiting_.fetch_add(added, std::memory_order_relaxed);
}

void engine_port::offer(const std::shared_ptr<block_job>& job) {
  std::unique_lock lock(guard_);
  if (closed_.load(std::memory_order_relaxed)) return;
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
  sort_in();
  const bool here = stream.port.load(std::memory_order_relaxed) == this;
  if (!here) return false;
  if (stream.port_ticket == 0) {
    if (gate_ == nullptr) return false; // not quite arrived
    stream.port.store(nullptr, std::memory_order_release); // late or lost on the way
    return true;
  }
  unlink(stream);
  return true;
}

void engine_port::wake_one(std::unique_lock<std::mutex>& lock) {
  if (ringing_.load(std::memory_order_relaxed) || lingering_.load(std::memory_order_relaxed)) {
    return;
  }
  caf::actor called;
  if (!idle_.empty()) {
    called = std::move(idle_.back());
    idle_.pop_back();
  } else if (engines_in_use() < engines_max_) {
    if (spare_.empty()) {
      called = make_engine();
    } else {
      called = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  if (!called) return;
  ringing_.store(true, std::memory_order_seq_cst);
  recount_sleepers();
  if (gate_ != nullptr) rung_ = called;
  lock.unlock();
  post(called, doorbell{});
}

// Null, with nothing changed, if there is no memory for one: the engines that exist serve what
// waits, or the next push tries again, for which the inbox must be found empty.
caf::actor engine_port::make_engine() {
  try {
    auto& slot = engines_.emplace_back();
    slot.handle = make_(*this, slot.load);
    return slot.handle;
  } catch (const std::bad_alloc&) {
    if (!engines_.empty() && !engines_.back().handle) engines_.pop_back();
    sort_in();
    return {};
  }
}

// -- engines ------------------------------------------------------------------

// Engines that run short commands come here all the time and keep the lock for less than it takes to
// put a thread to sleep and wake it: they look again for as long as that would take, then sleep.
std::unique_lock<std::mutex> engine_port::lock_as_engine() {
  constexpr unsigned looks_max = 64;
  std::unique_lock lock(guard_, std::defer_lock);
  for (unsigned looks = 0; looks < looks_max; ++looks) {
    if (lock.try_lock()) return lock;
    relax();
  }
  lock.lock();
  return lock;
}

engine_port::work engine_port::next() {
  if (!has_waiting() && !has_jobs()) return {};
  auto lock = lock_as_engine();
  if (has_too_many()) return {}; // see `next_or_idle`
  return take_and_wake(lock);
}

// What it leaves, others are rung for.
bool engine_port::put_aside(const caf::actor& engine) {
  std::erase(spare_, engine); // where a doorbell came twice
  if (!has_too_many() || closed_.load(std::memory_order_relaxed)) return false;
  spare_.push_back(engine);
  ringing_.store(false, std::memory_order_seq_cst);
  return true;
}

engine_port::work engine_port::next_or_idle(const caf::actor& engine,
                                            const std::function<bool()>& linger) {
  std::unique_lock lock(guard_);
  if (put_aside(engine)) {
    if (has_waiting() || has_jobs()) wake_one(lock);
    return {};
  }
  if (auto found = take_and_wake(lock)) return found;
  if (!closed_.load(std::memory_order_relaxed) && !lingering_.load(std::memory_order_relaxed)) {
    lingering_.store(true, std::memory_order_seq_cst);
    lock.unlock();
    while (!has_waiting() && !has_jobs() && linger()) {
    }
    lock.lock();
    lingering_.store(false, std::memory_order_seq_cst);
    if (auto found = take_and_wake(lock)) return found;
  }
  while (!closed_.load(std::memory_order_relaxed)) {
    idle_.push_back(engine);
    recount_sleepers();
    if (inbox_.load(std::memory_order_seq_cst) == nullptr) break;
    idle_.pop_back();
    recount_sleepers();
    if (auto found = take_and_wake(lock)) return found;
  }
  return {};
}

engine_port::work engine_port::take_and_wake(std::unique_lock<std::mutex>& lock) {
  ringing_.store(false, std::memory_order_seq_cst); // whoever was rung, somebody came
  auto found = take();
  const bool more = found && (has_waiting() || has_jobs());
  if (more && !closed_.load(std::memory_order_relaxed)) wake_one(lock);
  return found;
}

void engine_port::engine_ended(const caf::actor& engine, bool replace) {
  std::unique_lock lock(guard_);
  ringing_.store(false, std::memory_order_seq_cst);
  std::erase(idle_, engine);
  std::erase(spare_, engine);
  recount_sleepers();
  if (replace) allow_one_more(lock);
}

void engine_port::allow_one_more(std::unique_lock<std::mutex>& lock) {
  ++engines_max_;
  recount_sleepers();
  const bool wanted = has_waiting() || has_jobs();
  if (wanted && !closed_.load(std::memory_order_relaxed)) wake_one(lock);
}

engine_port::work engine_port::take() {
  if (auto* chosen = choose()) {
    chosen->prefetch_work();
    if (const auto* following = chosen->port_next) {
      following->prefetch_work();
      if (following->port_next != nullptr) following->port_next->prefetch_record();
    }
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
  sort_in();
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
  stream.port_ticket = 0;
  stream.port.store(nullptr, std::memory_order_release);
  waiting_.fetch_sub(1, std::memory_order_relaxed);
  if (end.first == nullptr) refresh_best();
}

// A pusher that was sorted in meanwhile may have noted its priority just before it is overwritten.
void engine_port::refresh_best() {
  do {
    sort_in();
    unsigned best = 0;
    while (best < priority_count && queues_[best].first == nullptr) ++best;
    best_waiting_.store(best, std::memory_order_seq_cst);
  } while (inbox_.load(std::memory_order_seq_cst) != nullptr);
}

void engine_port::replace_engine() {
  std::unique_lock lock(guard_);
  stuck_.fetch_add(1, std::memory_order_relaxed);
  allow_one_more(lock);
}

void engine_port::engine_returned() {
  const std::lock_guard lock(guard_);
  --engines_max_;
  recount_sleepers();
  stuck_.fetch_sub(1, std::memory_order_relaxed);
}

void engine_port::end_engines() {
  std::vector<caf::actor> engines;
  std::deque<std::shared_ptr<block_job>> dropped_jobs; // released after the lock
  dropped_streams dropped;
  {
    const std::lock_guard lock(guard_);
    closed_.store(true, std::memory_order_seq_cst);
    idle_.clear();
    spare_.clear();
    recount_sleepers();
    dropped_jobs.swap(jobs_);
    job_count_.store(0, std::memory_order_relaxed);
    for (auto& each : engines_) engines.push_back(std::move(each.handle));
    dropped = drop_all();
  }
  end_work_of(dropped);
  for (const auto& each : engines) {
    if (each) caf::anon_send_exit(each, caf::exit_reason::user_shutdown);
  }
}

// With the streams come their grants: nobody else could end what these have accepted.
engine_port::dropped_streams engine_port::drop_all() {
  sort_in();
  dropped_streams all;
  for (auto& each : queues_) {
    while (each.first != nullptr) {
      all.push_back(each.first->shared_from_this());
      unlink(*each.first);
    }
  }
  return all;
}

void engine_port::end_work_of(const dropped_streams& all) {
  for (const auto& each : all) {
    each->abort();
    drive(*each, nullptr);
  }
}

// What comes to a closed port.
void engine_port::refuse_all(std::unique_lock<std::mutex>& lock) {
  const auto dropped = drop_all();
  lock.unlock();
  end_work_of(dropped);
}

engine_counters engine_port::snapshot(time_ns now) const {
  engine_counters seen;
  seen.commands = commands_elsewhere_.load(std::memory_order_relaxed);
  seen.bytes = bytes_elsewhere_.load(std::memory_order_relaxed);
  const std::lock_guard lock(guard_);
  seen.engines = engines_in_use();
  seen.waiting = waiting_.load(std::memory_order_relaxed);
  for (const auto* each = inbox_.load(std::memory_order_acquire); each != nullptr;) {
    ++seen.waiting; // sorted in by lock holders only, so none of them goes away meanwhile
    each = each->port_next;
  }
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
