#include "actors/context_record.hpp"

#include <algorithm>
#include <string>

#include "actors/device_record.hpp"
#include "actors/faults/killed_by.hpp"
#include "actors/pool_record.hpp"
#include "actors/scheduling/spawn.hpp"
#include "actors/stream_actor.hpp"

namespace troupe {

context_record::context_record(machine& home, device_record& device, std::uint64_t id,
                               bool primary)
    : home_(home), device_(device), id_(id), primary_(primary),
      events_(std::make_shared<event_count>(device.event_counter())) {}

status context_record::trouble() const {
  auto before = poison();
  if (!destroyed()) return before;
  error_record record;
  record.what = code::context_released;
  record.message = "context " + std::to_string(id_) + " has been destroyed";
  record.cause = before.record();
  return blamed_on_death(status(std::move(record)), home_, actor);
}

void context_record::note_failure(const status& failure) {
  if (stop_on_failure() && poison_by(failure)) drop_poisoned();
}

bool context_record::poison_by(const status& cause) {
  const std::lock_guard lock(guard_);
  if (!poison_.ok()) return false;
  poison_ = cause;
  poisoned_.store(true, std::memory_order_seq_cst);
  return true;
}

void context_record::drop_poisoned() {
  const auto cause = poison();
  const auto all = streams();
  for (const auto& each : all) each->line()->break_off(cause);
  for (const auto& each : all) {
    each->abort();
    post(each->actor, abort_stream{no_reply<status>(), true}); // who sees to its bound
  }
}

status context_record::poison() const {
  const std::lock_guard lock(guard_);
  return poison_.ok() ? device_trouble_ : poison_;
}

void context_record::set_device_trouble(const status& why) {
  {
    const std::lock_guard lock(guard_);
    device_trouble_ = why;
    poisoned_.store(!poison_.ok() || !why.ok(), std::memory_order_seq_cst);
  }
  if (!why.ok()) return;
  for (const auto& each : streams()) each->line()->mend();
}

void context_record::inherit_failure(stream_record& stream) {
  const std::lock_guard lock(guard_);
  const auto order = stream.failure_order_up_to(UINT64_MAX);
  auto what = stream.take_failure(UINT64_MAX);
  if (!what.ok() && inherited_.size() < inherited_kept) {
    inherited_.push_back({order, std::move(what)});
  }
}

status context_record::inherited_failure_up_to(std::uint64_t stream_id,
                                               std::uint64_t number) const {
  const std::lock_guard lock(guard_);
  for (const auto& each : inherited_) {
    const auto& origin = *each.what.record();
    if (origin.stream == stream_id && origin.task_number <= number) return each.what;
  }
  return {};
}

status context_record::take_first_failure(const std::vector<stream_target>& targets) {
  const std::lock_guard lock(guard_); // so that a stream that ends is not missed on its way here
  for (;;) {
    auto first = UINT64_MAX;
    const stream_target* at = nullptr;
    for (const auto& each : targets) {
      const auto order = each.stream->failure_order_up_to(each.number);
      if (order >= first) continue;
      first = order;
      at = &each;
    }
    const auto heir =
        std::min_element(inherited_.begin(), inherited_.end(),
                         [](const auto& a, const auto& b) { return a.order < b.order; });
    if (heir != inherited_.end() && heir->order < first) {
      auto what = std::move(heir->what);
      inherited_.erase(heir);
      return what;
    }
    if (at == nullptr) return {};
    // Unless somebody else has just taken it.
    if (auto what = at->stream->take_failure(at->number); !what.ok()) return what;
  }
}

result<std::shared_ptr<void>> context_record::take_event_slot() {
  if (auto s = device_.add_event(); !s.ok()) return s;
  if (!events_->add()) {
    device_.event_counter()->fetch_sub(1);
    return check_usable();
  }
  // Not null: a null slot is one that was given back.
  return std::shared_ptr<void>(events_.get(), [count = events_](void*) { count->take_off(); });
}

bool context_record::mark_destroyed() noexcept {
  if (destroyed_.exchange(true, std::memory_order_acq_rel)) return false;
  events_->end();
  return true;
}

void context_record::add(const std::shared_ptr<stream_record>& stream) {
  const std::lock_guard lock(guard_);
  streams_.emplace(stream->id(), stream);
}

void context_record::forget(std::uint64_t stream_id) {
  waits_.forget(stream_id);
  std::shared_ptr<stream_record> gone; // released after the lock
  bool last = false;
  {
    const std::lock_guard lock(guard_);
    const auto found = streams_.find(stream_id);
    if (found == streams_.end()) return;
    gone = std::move(found->second);
    streams_.erase(found);
    last = streams_.empty();
  }
  if (last && destroyed()) device_.forget(id_);
}

std::vector<std::shared_ptr<stream_record>> context_record::streams() const {
  const std::lock_guard lock(guard_);
  std::vector<std::shared_ptr<stream_record>> all;
  all.reserve(streams_.size());
  for (const auto& each : streams_) all.push_back(each.second);
  return all;
}

std::shared_ptr<stream_record> context_record::default_stream() const {
  const std::lock_guard lock(guard_);
  return default_stream_;
}

void context_record::set_default_stream(std::shared_ptr<stream_record> stream) {
  const std::lock_guard lock(guard_);
  default_stream_.swap(stream);
}

void context_record::add(const std::shared_ptr<pool_record>& pool) {
  const std::lock_guard lock(guard_);
  std::erase_if(pools_, [](const auto& each) { return each.expired(); });
  pools_.push_back(pool);
}

std::vector<std::shared_ptr<pool_record>> context_record::pools() const {
  std::vector<std::shared_ptr<pool_record>> found;
  const std::lock_guard lock(guard_);
  for (const auto& each : pools_) {
    if (auto pool = each.lock()) found.push_back(std::move(pool));
  }
  return found;
}

frontier context_record::outstanding() const {
  frontier edge;
  const std::lock_guard lock(guard_);
  for (const auto& [id, stream] : streams_) {
    const auto& line = stream->line();
    if (const auto last = line->submitted(); !line->over(last)) edge.push_back({line, last});
  }
  for (const auto* uses : {&foreign_uses_, &strays_}) {
    for (const auto& each : *uses) {
      if (!each.ended()) edge.push_back(each);
    }
  }
  return edge;
}

void context_record::note_foreign_use(ticket use) {
  const std::lock_guard lock(guard_);
  std::erase_if(foreign_uses_, [](const ticket& each) { return each.ended(); });
  foreign_uses_.push_back(std::move(use));
}

void context_record::note_stray(ticket work) {
  const std::lock_guard lock(guard_);
  strays_.push_back(std::move(work));
  strays_noted_.store(true, std::memory_order_release);
}

bool context_record::any_stray_left() {
  const std::lock_guard lock(guard_);
  std::erase_if(strays_, [](const ticket& each) { return each.ended(); });
  strays_noted_.store(!strays_.empty(), std::memory_order_release);
  return !strays_.empty();
}

} // namespace troupe
