#include "actors/context_record.hpp"
#include "actors/device_record.hpp"
#include "actors/stream_record.hpp"

namespace troupe {

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
  {
    const std::lock_guard lock(failure_guard_);
    if (failures_.size() == failures_kept) failures_.erase(failures_.begin());
    failures_.push_back({c.number, made});
    ++failure_count_;
    const auto unreported = std::min<std::size_t>(unreported_ + 1U, failures_.size());
    unreported_.store(static_cast<std::uint32_t>(unreported), std::memory_order_release);
  }
  context_->note_failure(made);
  return made;
}

status stream_record::overdue(std::int64_t limit_ms) const {
  const auto next = line_->completed() + 1;
  error_record record;
  record.what = code::stream_sync_timeout;
  record.device = context_->device().index();
  record.context = context_->id();
  record.stream = id();
  record.task_number = next;
  std::string doing = "it queues for an engine";
  if (grant_.load(std::memory_order_acquire) == grant_state::blocked) {
    const std::lock_guard lock(blocked_guard_);
    const auto on = blocked_on_.lock();
    record.task_name = "wait";
    doing = "it waits for stream " + std::to_string(on ? on->id() : 0) + " to reach number " +
            std::to_string(blocked_number_) +
            (on && on->state_of(blocked_number_) == ticket_state::dropped
                 ? ", which was dropped when that stream was aborted or destroyed"
                 : "");
  } else if (port.load(std::memory_order_acquire) == nullptr) {
    if (const auto* name = running_name.load(std::memory_order_acquire)) record.task_name = name;
    doing = "task '" + record.task_name + "' runs";
  }
  record.message = "stream " + std::to_string(id()) + " of device " +
                   std::to_string(*record.device) + " did not finish within " +
                   std::to_string(limit_ms) + " ms: " +
                   std::to_string(line_->submitted() - next + 1) + " tasks left, at task " +
                   std::to_string(next) + " " + doing;
  return status(std::move(record));
}

// A failure is noted before its command ends, so whoever waited for that needs no lock to see it.
status stream_record::take_failure() {
  if (unreported_.load(std::memory_order_acquire) == 0) return {};
  const std::lock_guard lock(failure_guard_);
  const auto unreported = unreported_.exchange(0, std::memory_order_acq_rel);
  if (unreported == 0) return {};
  const auto first = failures_.size() - unreported;
  return failures_[first].what;
}

status stream_record::failure_up_to(std::uint64_t number) const {
  const std::lock_guard lock(failure_guard_);
  const std::size_t unreported = unreported_.load(std::memory_order_relaxed);
  const auto first = failures_.size() - unreported;
  if (unreported == 0 || failures_[first].number > number) return {};
  return failures_[first].what;
}

std::vector<status> stream_record::failures() const {
  const std::lock_guard lock(failure_guard_);
  std::vector<status> all;
  all.reserve(failures_.size());
  for (const auto& each : failures_) all.push_back(each.what);
  return all;
}

} // namespace troupe
