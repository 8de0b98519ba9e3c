#include "actors/stream_record.hpp"

#include <algorithm>
#include <optional>

#include <gsl/gsl>

#include "actors/block_job.hpp"
#include "actors/context_record.hpp"
#include "actors/device_record.hpp"
#include "actors/faults/fault_gate.hpp"
#include "actors/faults/killed_by.hpp"
#include "actors/machine.hpp"
#include "actors/payloads.hpp"
#include "actors/process.hpp"
#include "actors/simulation/witness.hpp"
#include "actors/stream_drive.hpp"
#include "actors/submit_patience.hpp"
#include "actors/use_table.hpp"
#include "actors/user_scope.hpp"
#include "actors/waiting.hpp"

namespace troupe {

stream_record::stream_record(machine& home, std::shared_ptr<context_record> context,
                             const identity& who)
    : passed(home.gate() != nullptr ? std::make_unique<channels>() : nullptr), home_(home),
      context_(std::move(context)), who_(who),
      line_(std::make_shared<timeline>(who.id, timeline_of::stream, home.gate())) {
  Expects(who.priority < engine_port::priority_count);
  Expects(who.queue_depth > 0);
  queues_.push_back({{&first_queue_, queue_ender{false}}});
}

stream_record::~stream_record() = default;

stream_counters stream_record::counters() const {
  stream_counters seen;
  seen.completed = line_->completed();
  seen.submitted = line_->submitted();
  seen.dropped = line_->dropped_count();
  {
    const std::lock_guard lock(submit_guard_);
    for (const auto& each : queues_) seen.queue_bytes += each.queue->storage_bytes();
  }
  seen.slot_waits = slot.waits.load(std::memory_order_relaxed);
  seen.slot_waited_ns = slot.waited_ns.load(std::memory_order_relaxed);
  const std::lock_guard lock(failure_guard_);
  seen.failed = failure_count_;
  return seen;
}

// -- submitting ---------------------------------------------------------------

status stream_record::check_open() const {
  if (!closed() && !context_->troubled()) return {};
  if (auto s = home_.check_alive(); !s.ok()) return s; // why the others ended
  return closed() ? why_closed() : context_->check_usable();
}

status stream_record::why_closed() const {
  return context_->destroyed() ? context_->check_usable() : destroyed(*this);
}

status stream_record::check_takes(command_kind kind) const {
  if (auto s = check_open(); !s.ok()) return s;
  const bool needs_engine = kind != command_kind::record && kind != command_kind::wait;
  if (!needs_engine || !home_.short_of_engines()) return {};
  auto& device = context_->device();
  return home_.check_engines(device, device.port(engine_for(kind)));
}

status stream_record::queue_full_status() const {
  error_record record;
  record.what = code::queue_full;
  record.message = "stream " + std::to_string(id()) + " holds " + std::to_string(queue_depth()) +
                   " commands, its limit, and none ended within " +
                   std::to_string(home_.options().submit_timeout_ms) + " ms";
  record.stream = id();
  record.context = context_->id();
  record.lacking = shortage{"queued commands", 1, queue_depth(), queue_depth()};
  return status(std::move(record));
}

bool stream_record::has_room() {
  room_seen_ = line_->completed();
  return producer_queue_->next_number() - room_seen_ <= queue_depth();
}

// Waits for a quarter of the queue at once, so that a submitter that is faster than the device
// sleeps and wakes once for many commands.
status stream_record::make_room(std::unique_lock<std::mutex>& lock) {
  const auto allowed_ms = submit_patience::within(home_.options().submit_timeout_ms);
  const auto deadline = after(home_.time().now(), time_ns{1'000'000} * allowed_ms);
  for (;;) {
    if (has_room()) return {};
    const auto next = producer_queue_->next_number();
    const auto quarter = std::max(1U, queue_depth() / 4);
    const auto enough = next - queue_depth() + quarter - 1;
    lock.unlock();
    const auto end = wait_for_number(home_.room(), *line_, enough, deadline);
    lock.lock();
    if (end == wait_end::let_go) return home_.room().why_let_go();
    if (auto s = check_open(); !s.ok()) return s;
    if (end == wait_end::interrupted) {
      return make_status(code::stream_abort,
                         "stream " + std::to_string(id()) +
                             " was aborted while a submission waited");
    }
    if (end == wait_end::expired && next - line_->completed() > queue_depth()) {
      return queue_full_status();
    }
  }
}

std::uint64_t stream_record::accept(command&& c, std::unique_lock<std::mutex>& lock) {
  auto& target = *producer_queue_;
  if (target.full(room_seen_)) room_seen_ = line_->completed();
  const auto number = target.push(std::move(c), room_seen_);
  line_->accept(number);
  lock.unlock();
  auto parked = grant_state::parked;
  if (grant_.load(std::memory_order_seq_cst) == parked &&
      grant_.compare_exchange_strong(parked, grant_state::granted, std::memory_order_seq_cst)) {
    drive(*this, nullptr);
  }
  return number;
}

status stream_record::submit(command&& c, std::uint64_t* number,
                             std::unique_lock<std::mutex>* held) {
  line_->prefetch();
  c.thread = this_thread_number();
  std::optional<use_table::uses> counted;
  if ((home_.memory_looks() & machine::memory_look::counted) != 0) [[unlikely]] {
    if (auto s = counted.emplace().begin(home_, c); !s.ok()) return s;
  }
  std::unique_lock lock(submit_guard_);
  first_queue_.prefetch_place();
  if (closed() || context_->troubled() || home_.short_of_engines()) [[unlikely]] {
    if (auto s = check_takes(c.kind); !s.ok()) return s;
  }
  if (producer_queue_->next_number() - room_seen_ > queue_depth()) {
    if (held != nullptr && !has_room()) held->unlock();
    if (auto s = make_room(lock); !s.ok()) return s;
  }
  if (home_.watched()) [[unlikely]] {
    if (auto s = strike_submission(c); !s.ok()) return s;
  }
  const auto given = accept(std::move(c), lock);
  if (counted) [[unlikely]] counted->accepted({line_, given});
  if (number != nullptr) *number = given;
  return {};
}

status stream_record::strike_submission(command& c) {
  const auto number = producer_queue_->next_number();
  auto* gate = home_.gate();
  const auto by = gate != nullptr ? gate->at_submit(*this, c, number) : fault_gate::strike{};
  if (by && by->action.kind == fault_kind::fail_at_submit) {
    return fault_gate::failure(*by, "stream " + std::to_string(id()) + " refused '" + c.name + "'");
  }
  if (by && by->action.kind == fault_kind::lose_device) return context_->device().check_present();
  if (by && by->action.kind == fault_kind::drop) {
    if (c.ends_user_code()) user_scope::end_payload(c, id());
    c.reset();
    c.lost = true;
    const std::lock_guard lock(failure_guard_);
    lost_.emplace(producer_queue_->next_number(),
                  fault_gate::failure(*by, "it was lost on its way to the device"));
  }
  if (auto* seen = home_.seen()) seen->submitted(*this, c, number);
  return {};
}

status stream_record::record(const std::shared_ptr<event_stamp>& stamp, std::uint64_t& number,
                             call_site site, std::unique_lock<std::mutex>& held) {
  {
    const std::lock_guard lock(submit_guard_);
    if (auto s = check_open(); !s.ok()) return s;
    // Idle under the submit lock: everything accepted has ended and nothing can come in between.
    // A number that was dropped cannot stand for it.
    if (line_->idle() && line_->state_of(line_->submitted()) == ticket_state::reached) {
      stamp->at.store(home_.time().now(), std::memory_order_release);
      number = line_->submitted();
      return {};
    }
  }
  command c(command_kind::record, "record", site);
  c.emplace<record_payload>(record_ops, stamp);
  return submit(std::move(c), &number, &held);
}

// -- control ------------------------------------------------------------------

bool stream_record::close() {
  const std::lock_guard lock(submit_guard_);
  return !closed_.exchange(true, std::memory_order_acq_rel);
}

void stream_record::leave_count() noexcept {
  if (!counted_.exchange(false)) return;
  context_->device().stream_count.fetch_sub(1, std::memory_order_relaxed);
}

bool stream_record::seize() {
  auto blocked = grant_state::blocked;
  if (grant_.compare_exchange_strong(blocked, grant_state::granted, std::memory_order_seq_cst)) {
    const std::lock_guard lock(blocked_guard_);
    if (const auto waited = blocked_on_.lock()) waited->unsubscribe(this);
    return true;
  }
  auto* waiting_at = port.load(std::memory_order_seq_cst);
  if (waiting_at != nullptr) return waiting_at->remove(*this);
  return slot.awaited.load(std::memory_order_seq_cst) && context_->device().slots().remove(*this);
}

void stream_record::abort() {
  {
    const std::lock_guard lock(submit_guard_);
    const auto mark = line_->submitted();
    // What comes after the abort goes into a queue of its own, so that an engine that never
    // returns can be left alone with the old one.
    if (!line_->idle() && producer_queue_->seal(mark)) {
      open_queue(mark + 1);
    }
    line_->abort();
  }
  if (seize()) drive(*this, nullptr);
}

void stream_record::open_queue(std::uint64_t first) {
  queues_.push_back({{new command_queue(first, id()), queue_ender{}}});
  producer_queue_ = queues_.back().queue.get();
}

// What was captured by commands that will not run is let go when their queue ends.
void stream_record::queue_ender::operator()(command_queue* ended) const {
  if (on_heap) {
    delete ended;
  } else {
    ended->end_rest();
  }
}

std::size_t stream_record::revoke(engine_port* at) {
  std::vector<held_queue> ended; // let go without the lock
  {
    const std::lock_guard lock(submit_guard_);
    const auto running = line_->completed() + 1;
    auto begun = running;
    if (running > line_->aborted() || !executing_.compare_exchange_strong(begun, 0)) return 0;
    // Until that engine returns, the context's memory may still be touched.
    context_->note_stray({line_, running});
    const auto mark = line_->aborted();
    if (!line_->complete_aborted(running)) return 0;
    if (auto* seen = home_.seen()) seen->dropped(*this, running, mark);
    open_queue_after(line_->completed(), at, ended);
  }
  // What has run, and only did not say so, touches nothing any more.
  if (const auto number = withheld(); number != 0) publish_withheld(number);
  const auto helpers = give_up_helpers();
  line_->tell_aborted();
  drive(*this, nullptr);
  return 1 + helpers;
}

// Once for each launch; another can be shared out only once the stream is driven again.
std::size_t stream_record::give_up_helpers() {
  const std::lock_guard lock(blocked_guard_);
  const auto job = std::exchange(split_, {}).lock();
  return job ? job->give_up() : 0;
}

void stream_record::note_split(std::uint64_t number, const std::shared_ptr<block_job>& job) {
  const std::lock_guard lock(blocked_guard_);
  if (executes(number)) split_ = job; // else the caller was given up on, and no block begins
}

// The queue that the engine executes from stays with it; what else was sealed nobody will execute.
void stream_record::open_queue_after(std::uint64_t mark, engine_port* at,
                                     std::vector<held_queue>& ended) {
  for (auto& each : queues_) {
    if (each.queue.get() != &queue()) continue;
    each.abandoned = true;
    each.port = at;
  }
  const auto split =
      std::stable_partition(queues_.begin(), queues_.end(), [mark](const held_queue& each) {
        return each.abandoned || each.queue->first_number() > mark;
      });
  std::move(split, queues_.end(), std::back_inserter(ended));
  queues_.erase(split, queues_.end());
  const auto open = std::find_if(queues_.begin(), queues_.end(),
                                 [](const held_queue& each) { return !each.abandoned; });
  Ensures(open != queues_.end());
  consumer_queue_.store(open->queue.get(), std::memory_order_release);
}

command_queue& stream_record::next_queue(std::uint64_t number) {
  const std::lock_guard lock(submit_guard_);
  std::erase_if(queues_, [number](const held_queue& each) {
    return !each.abandoned && each.queue->last_number() < number;
  });
  for (auto& each : queues_) {
    if (each.abandoned) continue;
    consumer_queue_.store(each.queue.get(), std::memory_order_release);
    break;
  }
  return *consumer_queue_.load(std::memory_order_relaxed);
}

void stream_record::abandoned_returned(const command_queue* queue, std::uint64_t number) {
  std::vector<held_queue> returned; // ended after the lock, with what it still holds
  {
    const std::lock_guard lock(submit_guard_);
    const auto found = std::find_if(queues_.begin(), queues_.end(), [queue](const auto& each) {
      return each.queue.get() == queue;
    });
    if (found != queues_.end()) {
      returned.push_back(std::move(*found));
      queues_.erase(found);
    }
  }
  line_->stray_returned(number);
  for (const auto& each : returned) {
    if (each.port != nullptr) home_.stuck_returned(*each.port);
  }
}

void stream_record::engine_lost(const command_queue* from, std::uint64_t number,
                                const status& why) {
  if (!executes(number)) return abandoned_returned(from, number);
  auto& c = queue().at(number);
  if (number > line_->aborted()) {
    (void)fail(c, why);
  } else {
    line_->note_dropped(number, number);
    if (auto* seen = home_.seen()) seen->note(happening::dropped, *this, c);
  }
  queue().pop(number);
  if (auto* seen = home_.seen()) seen->publishing(*this, number);
  if (line_->complete(number)) drive(*this, nullptr);
}

void stream_record::engine_restarted(const command_queue* from, std::uint64_t number) {
  if (!set_aside(number)) return abandoned_returned(from, number);
  drive(*this, nullptr);
}

std::uint64_t stream_record::overdue_wait(time_ns now) const noexcept {
  const bool waits = grant_.load(std::memory_order_acquire) == grant_state::blocked;
  return waits && wait_due_.load(std::memory_order_acquire) <= now ? line_->completed() + 1 : 0;
}

bool stream_record::abort_is_overdue(time_ns now) const noexcept {
  return abort_due_.load(std::memory_order_acquire) <= now && line_->completed() < line_->aborted();
}

void stream_record::expire_wait(std::uint64_t number) {
  if (line_->completed() + 1 != number) return; // it ended in another way
  expired_.store(number, std::memory_order_seq_cst);
  if (seize()) drive(*this, nullptr);
}

// -- the grant's holder -------------------------------------------------------

void stream_record::pass_to(command_kind kind) {
  auto& device = context_->device();
  device.slots().serve(*this, device.port(engine_for(kind)));
}

void stream_record::pass_to(engine_port& at) { context_->device().slots().serve(*this, at); }

bool stream_record::keep_slot() noexcept {
  return slot.held || context_->device().slots().keep(*this);
}

void stream_record::leave_slot() {
  if (slot.held) context_->device().slots().leave(*this);
}

void stream_record::prefetch_record() const noexcept {
  __builtin_prefetch(&home_);
  __builtin_prefetch(&served_at, 1);
  __builtin_prefetch(&consumer_queue_);
  first_queue_.prefetch_pop();
}

void stream_record::prefetch_work() const noexcept {
  line_->prefetch();
  queue().prefetch_command();
}

void stream_record::set_engaged(caf::actor engine) {
  const std::lock_guard lock(blocked_guard_);
  engaged_.swap(engine);
}

caf::actor stream_record::engaged() const {
  const std::lock_guard lock(blocked_guard_);
  return engaged_;
}

void stream_record::publish_withheld(std::uint64_t number) {
  auto expected = number;
  if (!withheld_.compare_exchange_strong(expected, 0, std::memory_order_acq_rel)) return;
  if (auto* seen = home_.seen()) seen->publishing(*this, number);
  if (line_->complete(number)) {
    drive(*this, nullptr);
  } else {
    abandoned_returned(&queue(), number); // it was given up on meanwhile
  }
}

bool stream_record::park(std::uint64_t next) {
  if (queue().storage_bytes() > command_queue::storage_kept_bytes) {
    const std::lock_guard lock(submit_guard_);
    if (line_->submitted() < next) queue().clear_storage();
  }
  if (line_->submitted() >= next) return false;
  leave_slot();
  grant_.store(grant_state::parked, std::memory_order_seq_cst);
  if (line_->submitted() < next) return true;
  auto parked = grant_state::parked;
  return !grant_.compare_exchange_strong(parked, grant_state::granted, std::memory_order_seq_cst);
}

bool stream_record::block_on(const std::shared_ptr<timeline>& line, std::uint64_t number) {
  {
    const std::lock_guard lock(blocked_guard_);
    blocked_on_ = line;
    blocked_number_ = number;
  }
  leave_slot();
  grant_.store(grant_state::blocked, std::memory_order_seq_cst);
  if (line->subscribe(number, shared_from_this(), listener_kind::device)) return true;
  auto blocked = grant_state::blocked;
  return !grant_.compare_exchange_strong(blocked, grant_state::granted, std::memory_order_seq_cst);
}

// Taking up one stream may complete the ticket of the next, and so on along a chain of any length:
// streams released meanwhile on this thread are taken up one after another, not inside each other.
void stream_record::on_ticket(ticket_state) noexcept {
  if (home_.inherited()) return; // nobody is here to execute it
  thread_local std::vector<std::shared_ptr<stream_record>>* released = nullptr;
  auto blocked = grant_state::blocked;
  if (!grant_.compare_exchange_strong(blocked, grant_state::granted, std::memory_order_seq_cst)) {
    return;
  }
  if (released != nullptr) {
    released->push_back(shared_from_this());
    return;
  }
  std::vector<std::shared_ptr<stream_record>> mine{shared_from_this()};
  released = &mine;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const auto next = std::move(mine[i]); // the list may grow and move meanwhile
    drive(*next, nullptr);
  }
  released = nullptr;
}

} // namespace troupe
