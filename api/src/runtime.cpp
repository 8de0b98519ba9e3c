#include "troupe/runtime.hpp"

#include <string>

#include <gsl/gsl>

#include "actors/ask.hpp"
#include "actors/context_actor.hpp"
#include "actors/device_actor.hpp"
#include "actors/faults/environment.hpp"
#include "actors/memory_checker.hpp"
#include "actors/notifier_actor.hpp"
#include "actors/scheduling/spawn.hpp"
#include "api/src/binding.hpp"
#include "api/src/states.hpp"

namespace troupe {
namespace {

void note_unknown_variables(machine& home) {
  for (const auto& each : unknown_variables()) {
    home.note({diagnostic::kind::unknown_variable, 0,
               "the environment variable " + each + " sets nothing: no option has that name"});
  }
}

std::shared_ptr<machine> make_machine(runtime_options options, bool use_environment) {
  if (use_environment) apply_environment(options).or_throw();
  options.validate().or_throw();
  auto faults = fault_plan_of_environment();
  if (!faults) throw error(faults.error());
  auto made = machine::create(std::move(options), nullptr, std::move(faults).value());
  if (use_environment) note_unknown_variables(*made);
  return made;
}

// The end of the last handle. Inside user code nobody may wait for that code to end.
void let_go(machine& home) {
  if (user_scope::refuse_inside("").ok()) {
    (void)home.shut_down();
  } else {
    home.abandon();
  }
}

// Ends the context whose last use was given back for a caller that had gone.
context_reply ending_reply() {
  return context_reply([](result<std::shared_ptr<context_record>> last) {
    if (last.ok()) end_unwanted(last);
  });
}

status moved_from() {
  return make_status(code::uninitialized, "the runtime object is empty: it was moved from");
}

result<device_record*> record_of(const std::shared_ptr<machine>& home, std::int64_t index,
                                 const char* call) {
  if (!home) return moved_from();
  if (auto s = user_scope::refuse_inside(call); !s.ok()) return s;
  return home->open(index);
}

// A device that nobody has used counts as starting meanwhile.
class first_use {
public:
  explicit first_use(device_record& device) : device_(device) { device_.entering.fetch_add(1); }
  ~first_use() { device_.entering.fetch_sub(1); }
  first_use(const first_use&) = delete;
  first_use& operator=(const first_use&) = delete;

  status succeeded() {
    device_.entered.store(true, std::memory_order_release);
    return {};
  }

private:
  device_record& device_;
};

// A call that met the death of the device's actor says that the device is lost.
status told_by(const device_record& device, const status& outcome) {
  auto present = outcome.code() == code::internal_error ? device.check_present() : status{};
  return present.ok() ? outcome : present;
}

} // namespace

// -- making -------------------------------------------------------------------

runtime::runtime() : home_(make_machine({}, true)) {}

runtime::runtime(runtime_options options) : home_(make_machine(std::move(options), false)) {}

runtime::runtime(std::shared_ptr<machine> home) noexcept : home_(std::move(home)) {}

result<runtime> runtime::create(runtime_options options, bool use_environment) {
  if (use_environment) {
    if (auto s = apply_environment(options); !s.ok()) return s;
  }
  if (auto s = options.validate(); !s.ok()) return s;
  auto faults = fault_plan_of_environment();
  if (!faults) return faults.error();
  auto made = machine::create(std::move(options), nullptr, std::move(faults).value());
  if (use_environment) note_unknown_variables(*made);
  return runtime(std::move(made));
}

runtime& runtime::operator=(runtime&& other) noexcept {
  if (this != &other) {
    if (home_) let_go(*home_);
    home_ = std::move(other.home_);
  }
  return *this;
}

runtime::~runtime() {
  if (home_) let_go(*home_);
}

status runtime::shutdown() {
  if (!home_) return {};
  if (auto s = user_scope::refuse_inside("runtime::shutdown"); !s.ok()) return s;
  const auto survivors = home_->shut_down();
  if (survivors.empty()) return {};
  std::string text = "the runtime has ended but for";
  for (const auto& each : survivors) text += (&each == &survivors.front() ? " " : ", ") + each;
  return make_status(code::internal_error, text);
}

// -- devices ------------------------------------------------------------------

std::size_t runtime::device_count() const noexcept { return home_ ? home_->device_count() : 0; }

const runtime_options& runtime::options() const noexcept {
  static const runtime_options none = [] {
    runtime_options made;
    made.devices.clear();
    return made;
  }();
  return home_ ? home_->options() : none;
}

result<troupe::device> runtime::device(std::int64_t index) const {
  const auto opened = record_of(home_, index, "runtime::device");
  if (!opened) return opened.error();
  return troupe::device(home_, opened.value());
}

result<device_profile> runtime::profile(std::int64_t index) const {
  if (!home_) return moved_from();
  const auto& all = home_->options().devices;
  if (index >= 0 && static_cast<std::uint64_t>(index) < all.size()) {
    return all[static_cast<std::size_t>(index)];
  }
  return make_status(code::invalid_device, "device " + std::to_string(index) +
                                               " does not exist; there are " +
                                               std::to_string(all.size()) + ", from 0");
}

result<device_health> runtime::health(std::int64_t index) const {
  if (const auto known = profile(index); !known) return known.error();
  return home_->device_at(gsl::narrow<std::uint32_t>(index)).health();
}

result<troupe::device> runtime::least_loaded() const {
  if (!home_) return moved_from();
  std::int64_t best = 0;
  auto best_load = UINT64_MAX;
  auto best_streams = SIZE_MAX;
  for (std::uint32_t i = 0; i < home_->device_count(); ++i) {
    const auto& each = home_->device_at(i);
    const auto load = each.load();
    const auto streams = each.stream_count.load(std::memory_order_relaxed);
    if (load > best_load || (load == best_load && streams >= best_streams)) continue;
    best = i;
    best_load = load;
    best_streams = streams;
  }
  return device(best);
}

// -- the thread's current device ----------------------------------------------

status runtime::set_device(std::int64_t index) const {
  const auto chosen = record_of(home_, index, "runtime::set_device");
  if (!chosen) return chosen.error();
  if (auto s = binding::check_bindable("runtime::set_device"); !s.ok()) return s;
  if (auto s = chosen.value()->check_present(); !s.ok()) return s;
  first_use entering(*chosen.value());
  auto held = ask<result<std::shared_ptr<context_record>>>(
      *home_, chosen.value()->actor, "runtime::set_device",
      [](auto answer) { return retain_primary{std::move(answer)}; },
      [device = caf::actor(chosen.value()->actor)](auto&) {
        post(device, release_primary{false, ending_reply()});
      });
  if (!held) return told_by(*chosen.value(), held.error());
  binding::set(std::make_shared<handles::context_state>(home_, std::move(held).value(), false));
  return entering.succeeded();
}

status runtime::reset_device(std::int64_t index, bool force) const {
  const auto chosen = record_of(home_, index, "runtime::reset_device");
  if (!chosen) return chosen.error();
  auto last = ask<result<std::shared_ptr<context_record>>>(
      *home_, chosen.value()->actor, "runtime::reset_device",
      [force](auto answer) { return release_primary{force, std::move(answer)}; }, &end_unwanted);
  if (!last) return told_by(*chosen.value(), last.error());
  if (!last.value()) return {};
  const context ending(std::make_shared<handles::context_state>(home_, last.value(), false));
  auto outcome = ending.synchronize();
  auto ended = end_context(*home_, *last.value());
  binding::forget(*last.value());
  return ended.ok() ? outcome : ended;
}

// -- things that belong to no device ------------------------------------------

result<host_block> runtime::allocate_host_bytes(std::size_t count,
                                                std::size_t element_bytes) const {
  if (!home_) return moved_from();
  if (auto s = may_call(*home_, "runtime::allocate_host"); !s.ok()) return s;
  const auto bytes = bytes_of(count, element_bytes);
  if (!bytes) return bytes.error();
  if (auto s = home_->start(); !s.ok()) return s;
  auto got = ask<result<memory_block>>(
      *home_, home_->host_memory_keeper(), "runtime::allocate_host",
      [&](auto answer) {
        return allocate_block{bytes.value(), 0, std::move(answer)};
      },
      free_unwanted(home_->host_memory_keeper(), home_->host_memory(), 0));
  if (!got) return got.error();
  return host_block(home_, got.value().data, got.value().bytes);
}

result<memory_info> runtime::host_memory() const {
  if (!home_) return moved_from();
  if (auto s = may_call(*home_, "runtime::host_memory"); !s.ok()) return s;
  if (auto s = home_->start(); !s.ok()) return s;
  return ask<result<memory_info>>(*home_, home_->host_memory_keeper(),
                                  "runtime::host_memory",
                                  [](auto answer) { return settle_memory{std::move(answer)}; });
}

signal runtime::create_signal() const {
  if (!home_) return {};
  auto line = std::make_shared<timeline>(home_->next_id(), timeline_of::signal);
  line->accept(1);
  return signal(std::move(line));
}

status runtime::add_kernel(kernel_entry entry) const {
  if (!home_) return moved_from();
  if (auto s = may_call(*home_, "runtime::register_kernel"); !s.ok()) return s;
  return home_->kernels().add(std::move(entry));
}

result<std::uint64_t> runtime::add_failure_listener(
    std::function<void(const error_record&)> listener) const {
  if (!home_) return moved_from();
  if (auto s = may_call(*home_, "runtime::add_failure_listener"); !s.ok()) return s;
  if (auto s = home_->start(); !s.ok()) return s;
  (void)home_->notifier();
  return home_->listeners().add(std::move(listener));
}

status runtime::remove_failure_listener(std::uint64_t number, bool wait) const {
  if (!home_) return moved_from();
  if (auto s = may_call(*home_, "runtime::remove_failure_listener"); !s.ok()) return s;
  if (auto s = home_->listeners().remove(number); !s.ok() || !wait) return s;
  return ask<status>(*home_, home_->notifier(), "runtime::remove_failure_listener",
                     [](auto answer) { return settle_notices{std::move(answer)}; });
}

std::vector<diagnostic> runtime::diagnostics() const {
  if (!home_) return {};
  if (home_->checks_memory() && home_->check_alive().ok()) check_all(*home_);
  return home_->diagnostics();
}

} // namespace troupe
