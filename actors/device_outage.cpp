#include "actors/device_outage.hpp"

#include <utility>

namespace troupe {
namespace {

status thrown_by(const std::string& name, const std::string& what) {
  return make_status(code::internal_error, "the abort hook '" + name + "' threw: " + what);
}

} // namespace

status device_outage::trouble() const {
  const std::lock_guard lock(guard_);
  if (state() == device_health::usable) return {};
  if (state() == device_health::faulted) return fault_->failure;
  error_record record;
  record.what = code::device_task_abort;
  record.message = "all work of device " + std::to_string(device_) +
                   (fault_ ? " was aborted after a memory fault; it is to be repaired first"
                           : " is being aborted");
  record.device = device_;
  if (fault_) record.cause = fault_->failure.record();
  return status(std::move(record));
}

bool device_outage::fault(memory_fault what) {
  const std::lock_guard lock(guard_);
  if (state() == device_health::usable) {
    state_.store(device_health::faulted, std::memory_order_release);
  } else if (state() != device_health::aborting || fault_) {
    return false;
  }
  fault_ = std::move(what);
  return true;
}

std::optional<memory_fault> device_outage::details() const {
  const std::lock_guard lock(guard_);
  return fault_;
}

status device_outage::begin_abort() {
  {
    const std::lock_guard lock(guard_);
    const auto now = state();
    if (now == device_health::usable || now == device_health::faulted) {
      state_.store(device_health::aborting, std::memory_order_release);
      return {};
    }
  }
  return trouble();
}

void device_outage::end_abort(bool complete) {
  const std::lock_guard lock(guard_);
  if (state() != device_health::aborting) return; // a reset came first
  const auto next = !fault_    ? device_health::usable
                    : complete ? device_health::aborted
                               : device_health::faulted;
  state_.store(next, std::memory_order_release);
}

status device_outage::repair() {
  const std::lock_guard lock(guard_);
  if (state() != device_health::aborted) {
    return make_status(code::invalid_parameter,
                       "device " + std::to_string(device_) + " is " + to_string(state()) +
                           "; a repair takes a memory fault and then an abort");
  }
  fault_.reset();
  state_.store(device_health::usable, std::memory_order_release);
  return {};
}

void device_outage::reset() {
  const std::lock_guard lock(guard_);
  fault_.reset();
  state_.store(device_health::usable, std::memory_order_release);
}

status device_outage::set_hook(const std::string& name, abort_hook hook) {
  abort_hook gone; // let go after the lock
  const std::lock_guard lock(guard_);
  const auto found = hooks_.find(name);
  if (!hook) {
    if (found == hooks_.end()) {
      return make_status(code::invalid_parameter, "there is no abort hook '" + name + "'");
    }
    gone = std::move(found->second);
    hooks_.erase(found);
    return {};
  }
  if (name.empty() || found != hooks_.end()) {
    return make_status(code::invalid_parameter,
                       name.empty() ? "an abort hook needs a name"
                                    : "there is an abort hook '" + name + "' already");
  }
  if (hooks_.size() >= hooks_max) {
    error_record record;
    record.what = code::over_limit;
    record.message = "device " + std::to_string(device_) + " has " + std::to_string(hooks_max) +
                     " abort hooks, its limit";
    record.device = device_;
    record.lacking = shortage{"abort hooks", 1, hooks_.size(), hooks_max};
    return status(std::move(record));
  }
  hooks_.emplace(name, std::move(hook));
  return {};
}

status device_outage::call_hooks(abort_phase phase) const {
  std::map<std::string, abort_hook> all;
  {
    const std::lock_guard lock(guard_);
    all = hooks_;
  }
  status first;
  for (const auto& [name, hook] : all) {
    status outcome;
    try {
      hook(phase);
    } catch (const std::exception& e) {
      outcome = thrown_by(name, e.what());
    } catch (...) {
      outcome = thrown_by(name, "something that is no exception");
    }
    if (first.ok()) first = outcome;
  }
  return first;
}

} // namespace troupe
