#include "actors/machine.hpp"

#include <algorithm>
#include <thread>

#include <gsl/gsl>

#include "actors/ask.hpp"
#include "actors/context_record.hpp"
#include "actors/engine_actor.hpp"
#include "actors/process.hpp"
#include "actors/root_actor.hpp"
#include "actors/scheduling/coordinator.hpp"
#include "actors/scheduling/spawn.hpp"
#include "actors/simulation/sim_coordinator.hpp"

namespace troupe {
namespace {

// A simulated run must not depend on the machine it runs on.
unsigned threads_for(const runtime_options& options, bool simulated) {
  if (options.compute_threads != 0) return options.compute_threads;
  if (simulated) return 2;
  return std::max(2U, std::thread::hardware_concurrency());
}

std::uint64_t budget_for(const runtime_options& options) {
  if (options.memory_budget_bytes != 0) return options.memory_budget_bytes;
  return static_cast<std::uint64_t>(static_cast<double>(host_memory_bytes()) *
                                    options.memory_budget_fraction);
}

} // namespace

std::shared_ptr<machine> machine::create(runtime_options options, simulation* play) {
  return std::make_shared<machine>(std::move(options), play);
}

machine::machine(runtime_options options, simulation* play)
    : options_(std::move(options)), compute_threads_(threads_for(options_, play != nullptr)),
      budget_bytes_(budget_for(options_)), play_(play),
      time_(play != nullptr ? static_cast<const clock*>(&play->time()) : &steady_time_),
      began_at_(time_->now()) {
  watch_forks();
  for (const auto& each : options_.devices) {
    const auto index = gsl::narrow<std::uint32_t>(devices_.size());
    devices_.push_back(std::make_unique<device_record>(*this, index, each));
  }
  opened_ = std::make_unique<std::atomic<bool>[]>(devices_.size());
}

machine::~machine() { Expects(!started_ || stopping_); }

// -- observers ----------------------------------------------------------------

bool machine::is_open(std::uint32_t index) const noexcept {
  return opened_[index].load(std::memory_order_acquire);
}

void machine::mark_open(std::uint32_t index) noexcept {
  opened_[index].store(true, std::memory_order_release);
}

status machine::trouble() const {
  if (stopping()) return make_status(code::uninitialized, "the runtime has been shut down");
  return make_status(code::not_supported, "this process was forked after the runtime had "
                                          "started; make a runtime of its own in it");
}

machine::place machine::locate(const void* address) const noexcept {
  for (std::uint32_t i = 0; i < devices_.size(); ++i) {
    if (is_open(i) && devices_[i]->memory->range().contains(address)) {
      return {place::kind::device, devices_[i].get()};
    }
  }
  if (host_memory_ && host_memory_->range().contains(address)) {
    return {place::kind::pinned, nullptr};
  }
  return {};
}

std::shared_ptr<context_record> machine::find_context(std::uint64_t id) const {
  for (const auto& each : devices_) {
    if (auto found = each->find(id)) return found;
  }
  return nullptr;
}

frontier machine::outstanding() const {
  frontier all;
  for (const auto& context : all_contexts()) {
    for (auto& each : context->outstanding()) all.push_back(std::move(each));
  }
  return all;
}

void machine::note(diagnostic entry) {
  const std::lock_guard lock(diagnostics_guard_);
  if (diagnostics_.size() < diagnostics_kept) diagnostics_.push_back(std::move(entry));
}

void machine::note_freed_in_use(const std::string& memory_name, std::uint64_t bytes,
                                const frontier& uses) {
  const auto pending = std::find_if(uses.begin(), uses.end(),
                                    [](const ticket& each) { return !each.ended(); });
  if (pending == uses.end()) return;
  note({diagnostic::kind::freed_in_use, pending->line->id(),
        std::to_string(bytes) + " bytes of the " + memory_name + " were freed while stream " +
            std::to_string(pending->line->id()) + " has work up to number " +
            std::to_string(pending->number) + " that may use them; reused when that has ended"});
}

std::vector<diagnostic> machine::diagnostics() const {
  const std::lock_guard lock(diagnostics_guard_);
  return diagnostics_;
}

void machine::play_on(bool until_something_happened) const {
  if (until_something_happened) {
    play_->poll_pause();
  } else {
    play_->pause();
  }
}

// -- start --------------------------------------------------------------------

std::unique_ptr<stage_config> machine::make_config() const {
  if (play_ != nullptr) return std::make_unique<sim_config>(*play_);
  scheduler_options wanted;
  wanted.control_workers = options_.control_workers;
  wanted.compute_threads = compute_threads_;
  wanted.dma_threads = options_.dma_threads;
  wanted.callback_threads_max = options_.callback_threads_max;
  wanted.spin_us = options_.spin_us;
  return std::make_unique<live_config>(wanted);
}

status machine::start() {
  if (auto s = check_alive(); !s.ok()) return s;
  if (started_.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(start_guard_);
  if (started_.load(std::memory_order_acquire)) return {};
  host_memory_ = std::make_shared<memory_record>("pinned host memory", host_memory_bytes());
  config_ = make_config();
  system_ = std::make_unique<caf::actor_system>(*config_);
  let_go_of_logger();
  system_->await_actors_before_shutdown(false);
  scheduler_ = &dynamic_cast<class scheduler&>(system_->scheduler());
  root_ = spawn_actor<root_actor>(*system_, std::ref(*this));
  host_memory_keeper_ =
      spawn_actor<memory_actor>(*system_, std::ref(*this), host_memory_, budget_bytes_);
  started_in_process_.store(fork_generation(), std::memory_order_relaxed);
  started_.store(true, std::memory_order_release);
  return {};
}

result<device_record*> machine::open(std::int64_t index) {
  if (auto s = check_alive(); !s.ok()) return s;
  if (index < 0 || index >= gsl::narrow<std::int64_t>(devices_.size())) {
    return make_status(code::invalid_device, "device " + std::to_string(index) +
                                                 " does not exist; there are " +
                                                 std::to_string(devices_.size()) + ", from 0");
  }
  const auto at = gsl::narrow<std::uint32_t>(index);
  if (is_open(at)) return devices_[at].get();
  if (auto s = start(); !s.ok()) return s;
  auto opened = ask<status>(room(), root_, [&](reply<status> answer) {
    return open_device{at, std::move(answer)};
  });
  if (!opened.ok()) return opened;
  return devices_[at].get();
}

void machine::replace_stuck(engine_port& port) {
  if (stuck_threads_.fetch_add(1) >= stuck_threads_max) return;
  scheduler().replace_thread(lane_for(port.kind()));
  port.replace_engine();
}

} // namespace troupe
