#include <algorithm>
#include <string>

#include "actors/context_record.hpp"
#include "actors/device_record.hpp"
#include "actors/faults/killed_by.hpp"
#include "actors/machine.hpp"
#include "actors/simulation/witness.hpp"
#include "actors/stream_record.hpp"

namespace troupe {
namespace {

// What a stream that left its grant with `line` waits for.
std::string awaited(const timeline* line, std::uint64_t number) {
  if (line == nullptr) return "a signal that nobody holds any more";
  if (line->what() == timeline_of::signal) return line->name() + " to be raised";
  const bool dropped = line->state_of(number) == ticket_state::dropped;
  return line->name() + " to reach number " + std::to_string(number) +
         (dropped ? ", which was dropped when that stream was aborted or destroyed" : "");
}

// What the program has done to the stream, or a fault, as it killed its actor or its context's.
status ended_by(const stream_record& stream, code what, const char* how) {
  auto told = make_status(what, "stream " + std::to_string(stream.id()) + how);
  told = blamed_on_death(std::move(told), stream.home(), stream.actor);
  return blamed_on_death(std::move(told), stream.home(), stream.context().actor);
}

status aborted(const stream_record& stream) {
  return ended_by(stream, code::stream_abort, " was aborted");
}

} // namespace

status destroyed(const stream_record& stream) {
  return ended_by(stream, code::invalid_handle, " has been destroyed");
}

status stream_record::fail(const command& c, const status& why) {
  error_record record;
  record.what = why.code();
  record.message = why.message();
  record.device = context_->device().index();
  record.context = context_->id();
  record.stream = id();
  record.task_number = c.number;
  record.task_name = c.name;
  record.thread = c.thread;
  record.site = c.site();
  if (why.record()) record.plan_entry = why.record()->plan_entry;
  record.message = "task " + std::to_string(c.number) + " '" + c.name + "' of stream " +
                   std::to_string(id()) + ": " + why.message();
  if (why.record() && (why.record()->cause || why.record()->stream != 0)) {
    record.cause = why.record();
  }
  status made(std::move(record));
  if (auto* seen = home_.seen()) {
    seen->note(happening::failed, *this, c, static_cast<std::uint64_t>(made.code()));
  }
  {
    const std::lock_guard lock(failure_guard_);
    auto unreported = unreported_.load(std::memory_order_relaxed);
    if (failures_.size() == failures_kept) {
      // What was reported goes first; else one in the middle: the first cause is kept, and the
      // newest.
      const bool all_unreported = unreported == failures_kept;
      failures_.erase(failures_.begin() + (all_unreported ? failures_kept / 2 : 0));
      if (all_unreported) --unreported;
    }
    failures_.push_back({c.number, context_->next_failure_order(), made});
    ++failure_count_;
    unreported_.store(unreported + 1, std::memory_order_release);
  }
  if (made.code() == code::hbm_multi_bit_ecc) context_->device().note_memory_fault(c, made);
  home_.announce(made);
  context_->note_failure(made);
  return made;
}

status stream_record::why_lost(std::uint64_t number) {
  const std::lock_guard lock(failure_guard_);
  return lost_.extract(number).mapped();
}

std::string stream_record::doing(std::string& task) const {
  if (grant_.load(std::memory_order_acquire) == grant_state::blocked) {
    const std::lock_guard lock(blocked_guard_);
    const auto on = blocked_on_.lock();
    task = "wait";
    return "it waits for " + awaited(on.get(), blocked_number_);
  }
  if (slot.awaited.load(std::memory_order_acquire)) return "it queues for a hardware slot";
  if (port.load(std::memory_order_acquire) != nullptr) return "it queues for an engine";
  if (const auto* name = running_name.load(std::memory_order_acquire)) task = name;
  return "task '" + task + "' runs";
}

// How much is left before the end of task `next`, and what `doing` says of it.
std::string stream_record::rest_from(std::uint64_t next, std::string& task) const {
  const auto left = line_->submitted() - next + 1;
  return std::to_string(left) + (left == 1 ? " task left, at task " : " tasks left, at task ") +
         std::to_string(next) + " " + doing(task);
}

std::string stream_record::situation() const {
  std::string task;
  return "stream " + std::to_string(id()) + " of context " + std::to_string(context_->id()) +
         ", device " + std::to_string(context_->device().index()) + ": " +
         rest_from(line_->completed() + 1, task);
}

std::string stream_record::origin_of(std::uint64_t number) const {
  if (number <= line_->completed() || number > line_->submitted()) return {};
  const std::lock_guard lock(submit_guard_);
  for (const auto& each : queues_) {
    const auto& queue = *each.queue;
    if (each.abandoned || number < queue.first_number() || number > queue.last_number()) continue;
    const auto& c = queue.look_at(number);
    const auto site = c.site();
    return std::string(" ('") + c.name + "', submitted at " + site.file + ":" +
           std::to_string(site.line) + ")";
  }
  return {};
}

ticket stream_record::awaited_now() const {
  if (grant_.load(std::memory_order_acquire) != grant_state::blocked) return {};
  const std::lock_guard lock(blocked_guard_);
  return {blocked_on_.lock(), blocked_number_};
}

std::string stream_record::held_up_by() const {
  if (home_.gate() == nullptr) return {};
  if (auto entry = line_->struck_by(); !entry.empty()) return entry;
  const std::lock_guard lock(blocked_guard_);
  const auto awaited = waits() ? blocked_on_.lock() : nullptr;
  return awaited ? awaited->struck_by() : std::string();
}

status stream_record::overdue(std::int64_t limit_ms) const {
  const auto next = line_->completed() + 1;
  error_record record;
  record.what = code::stream_sync_timeout;
  record.device = context_->device().index();
  record.context = context_->id();
  record.stream = id();
  record.task_number = next;
  const auto rest = rest_from(next, record.task_name);
  record.message = "stream " + std::to_string(id()) + " of device " +
                   std::to_string(*record.device) + " did not finish within " +
                   std::to_string(limit_ms) + " ms: " + rest;
  record.plan_entry = held_up_by();
  return status(std::move(record));
}

// A failure is noted before its command ends, so whoever waited for that needs no lock to see it.
status stream_record::take_failure(std::uint64_t number) {
  if (unreported_.load(std::memory_order_acquire) == 0) return {};
  const std::lock_guard lock(failure_guard_);
  const auto* first = first_unreported(number);
  if (first == nullptr) return {};
  auto what = first->what;
  const auto later = std::count_if(failures_.begin(), failures_.end(), [number](const auto& each) {
    return each.number > number;
  });
  unreported_.store(static_cast<std::uint32_t>(later), std::memory_order_release);
  return what;
}

const stream_record::failure* stream_record::first_unreported(std::uint64_t number) const {
  const std::size_t unreported = unreported_.load(std::memory_order_relaxed);
  if (unreported == 0) return nullptr;
  const auto& first = failures_[failures_.size() - unreported];
  return first.number <= number ? &first : nullptr;
}

status stream_record::failure_up_to(std::uint64_t number) const {
  const std::lock_guard lock(failure_guard_);
  const auto* first = first_unreported(number);
  return first != nullptr ? first->what : status{};
}

std::uint64_t stream_record::failure_order_up_to(std::uint64_t number) const {
  if (unreported_.load(std::memory_order_acquire) == 0) return UINT64_MAX;
  const std::lock_guard lock(failure_guard_);
  const auto* first = first_unreported(number);
  return first != nullptr ? first->order : UINT64_MAX;
}

status stream_record::why_dropped() const {
  if (auto s = home_.check_alive(); !s.ok()) return s;
  if (auto s = context_->check_usable(); !s.ok()) return s;
  return aborted(*this);
}

status stream_record::why_interrupted() const {
  return context_->poisoned() ? context_->poison() : aborted(*this);
}

std::vector<status> stream_record::failures() const {
  const std::lock_guard lock(failure_guard_);
  std::vector<status> all;
  all.reserve(failures_.size());
  for (const auto& each : failures_) all.push_back(each.what);
  return all;
}

} // namespace troupe
