#include "actors/timeline.hpp"

#include <algorithm>

#include <gsl/gsl>

#include "actors/faults/fault_gate.hpp"

namespace troupe {

std::string timeline::name() const {
  return (what_ == timeline_of::signal ? "signal " : "stream ") + std::to_string(id_);
}

std::uint64_t timeline::dropped_count() const {
  const std::lock_guard lock(guard_);
  return dropped_count_;
}

ticket_state timeline::state_of(std::uint64_t number) const {
  if (completed() >= number) {
    return was_dropped(number) ? ticket_state::dropped : ticket_state::reached;
  }
  return aborted() >= number ? ticket_state::dropped : ticket_state::pending;
}

bool timeline::was_dropped(std::uint64_t number) const {
  if (number > dropped_last_.load(std::memory_order_acquire) || number == 0) return false;
  const std::lock_guard lock(guard_);
  return is_dropped(number);
}

bool timeline::is_dropped(std::uint64_t number) const {
  const auto found =
      std::lower_bound(dropped_.begin(), dropped_.end(), number,
                       [](const range& each, std::uint64_t n) { return each.last < n; });
  return found != dropped_.end() && found->first <= number;
}

void timeline::note_dropped(std::uint64_t first, std::uint64_t last) {
  Expects(first <= last);
  const std::lock_guard lock(guard_);
  const auto before = std::max(first - 1, dropped_.empty() ? 0 : dropped_.back().last);
  if (last > before) dropped_count_ += last - before;
  if (!dropped_.empty() && dropped_.back().last + 1 >= first) {
    dropped_.back().last = std::max(dropped_.back().last, last);
  } else {
    dropped_.push_back({first, last});
  }
  dropped_last_.store(dropped_.back().last, std::memory_order_release);
}

void timeline::abort() {
  std::vector<subscription> interrupted;
  {
    const std::lock_guard lock(guard_);
    const auto mark = submitted();
    aborted_.store(mark, std::memory_order_seq_cst);
    abort_count_.fetch_add(1, std::memory_order_seq_cst);
    const auto split = std::stable_partition(
        subscriptions_.begin(), subscriptions_.end(), [mark](const subscription& each) {
          return each.kind == listener_kind::device || each.number > mark;
        });
    std::move(split, subscriptions_.end(), std::back_inserter(interrupted));
    subscriptions_.erase(split, subscriptions_.end());
    update_watch();
  }
  for (auto& each : interrupted) each.listener->on_ticket(ticket_state::dropped);
}

void timeline::break_off(const status& cause) {
  {
    const std::lock_guard lock(guard_);
    cause_ = cause;
    broken_.store(true, std::memory_order_release);
  }
  tell(completed()); // of what was dropped before
}

void timeline::mend() {
  const std::lock_guard lock(guard_);
  cause_ = {};
  broken_.store(false, std::memory_order_release);
}

status timeline::cause_of_break() const {
  const std::lock_guard lock(guard_);
  return cause_;
}

// Whether a device-side wait has nothing to hope for and is left alone.
bool timeline::stalls(const subscription& each) const {
  return each.kind == listener_kind::device && cause_.ok() && is_dropped(each.number);
}

bool timeline::complete_aborted(std::uint64_t running) {
  const auto mark = aborted();
  if (running > mark || completed() + 1 != running) return false;
  // Noted before the numbers end: nobody may take them for reached, or for over, in between.
  note_dropped(running, mark);
  {
    const std::lock_guard lock(guard_);
    strays_.push_back(running);
    update_strays();
  }
  auto before = running - 1;
  if (completed_.compare_exchange_strong(before, mark, std::memory_order_seq_cst)) return true;
  stray_returned(running);
  return false;
}

void timeline::stray_returned(std::uint64_t running) {
  const std::lock_guard lock(guard_);
  std::erase(strays_, running);
  update_strays();
}

bool timeline::has_stray(std::uint64_t before, std::uint64_t last) const {
  if (first_stray_.load(std::memory_order_acquire) > last) return false; // commonly nobody
  const std::lock_guard lock(guard_);
  return std::any_of(strays_.begin(), strays_.end(), [=](std::uint64_t number) {
    return before < number && number <= last;
  });
}

void timeline::update_strays() {
  const auto first = std::min_element(strays_.begin(), strays_.end());
  first_stray_.store(first == strays_.end() ? nobody : *first, std::memory_order_release);
}

bool timeline::subscribe(std::uint64_t number, std::shared_ptr<ticket_listener> listener,
                         listener_kind kind) {
  const std::lock_guard lock(guard_);
  // Announced before the last look: either `complete` sees the watch, or we see its number.
  const auto before = watch_.load(std::memory_order_relaxed);
  watch_.store(std::min(before, number), std::memory_order_seq_cst);
  if (completed_.load(std::memory_order_seq_cst) >= number) {
    watch_.store(before, std::memory_order_relaxed);
    if (kind == listener_kind::host || !is_dropped(number) || !cause_.ok()) return false;
  }
  subscriptions_.push_back({number, std::move(listener), kind});
  return true;
}

void timeline::unsubscribe(const ticket_listener* listener) {
  std::vector<subscription> removed; // ended after the lock
  const std::lock_guard lock(guard_);
  const auto split = std::stable_partition(
      subscriptions_.begin(), subscriptions_.end(),
      [listener](const subscription& each) { return each.listener.get() != listener; });
  std::move(split, subscriptions_.end(), std::back_inserter(removed));
  subscriptions_.erase(split, subscriptions_.end());
  update_watch();
}

void timeline::tell(std::uint64_t number, bool again) {
  struct notice {
    std::shared_ptr<ticket_listener> listener;
    ticket_state state;
  };
  std::vector<notice> notices;
  {
    const std::lock_guard lock(guard_);
    std::erase_if(subscriptions_, [&](subscription& each) {
      if (each.number > number || stalls(each)) return false;
      if (each.kept_back && !again) return false;
      const bool gone = is_dropped(each.number);
      const auto times = gate_ == nullptr || each.kept_back ? 1U : notices_now();
      each.kept_back = times == 0;
      for (auto i = 0U; i < times; ++i) {
        notices.push_back({each.listener, gone ? ticket_state::dropped : ticket_state::reached});
      }
      return times != 0;
    });
    update_watch();
  }
  for (auto& each : notices) each.listener->on_ticket(each.state);
}

// A notice that is late or lost leaves its subscription where it is.
unsigned timeline::notices_now() {
  const auto by = gate_->at_notice(id_, ++notices_);
  if (!by) return 1;
  if (const auto late = gate_->late_until(*by)) {
    gate_->later(*late, [self = shared_from_this()] { (void)self->tell_again(); });
    return 0;
  }
  if (by->action.kind == fault_kind::drop) return 0;
  return by->action.kind == fault_kind::duplicate ? 2 : 1;
}

void timeline::note_struck(std::string entry) {
  const std::lock_guard lock(guard_);
  struck_ = completed() + 1;
  struck_by_ = std::move(entry);
}

std::string timeline::struck_by() const {
  const std::lock_guard lock(guard_);
  return struck_ == completed() + 1 ? struck_by_ : std::string();
}

bool timeline::tell_again() {
  const auto reached = completed();
  {
    const std::lock_guard lock(guard_);
    const bool overdue = std::any_of(
        subscriptions_.begin(), subscriptions_.end(), [&](const subscription& each) {
          return each.kept_back && each.number <= reached && !stalls(each);
        });
    if (!overdue) return false;
  }
  tell(reached, true);
  return true;
}

// A device-side wait on a dropped number stays listed but is not watched for. A number that has
// ended meanwhile is: whoever ended it may not have looked at the watch yet.
void timeline::update_watch() {
  auto lowest = nobody;
  for (const auto& each : subscriptions_) {
    if (stalls(each)) continue;
    lowest = std::min(lowest, each.number);
  }
  watch_.store(lowest, std::memory_order_seq_cst);
}

} // namespace troupe
