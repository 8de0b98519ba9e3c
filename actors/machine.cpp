#include "actors/machine.hpp"

#include <algorithm>
#include <new>
#include <system_error>
#include <thread>

#include <gsl/gsl>

#include "actors/ask.hpp"
#include "actors/context_record.hpp"
#include "actors/engine_actor.hpp"
#include "actors/faults/fault_gate.hpp"
#include "actors/faults/owed_account.hpp"
#include "actors/faults/gated_wire.hpp"
#include "actors/faults/recovery.hpp"
#include "actors/notifier_actor.hpp"
#include "actors/process.hpp"
#include "actors/root_actor.hpp"
#include "actors/scheduling/coordinator.hpp"
#include "actors/scheduling/spawn.hpp"
#include "actors/simulation/circles.hpp"
#include "actors/simulation/sim_coordinator.hpp"
#include "actors/use_table.hpp"

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

status no_thread(lane_id id) {
  error_record record;
  record.what = code::resource_shortage;
  record.message = std::string("the system refuses the runtime a thread, and its ") +
                   to_string(id) + " lane has none but stuck ones";
  record.lacking = shortage{"threads", 1, 0, 0};
  return status(std::move(record));
}

std::atomic<std::uint64_t> last_context_id = 0;

// The ids of a simulated run do not depend on what the process did before, and those of its
// runtimes are apart.
constexpr std::uint64_t ids_per_simulated_runtime = 1'000'000'000;

} // namespace

// Unique in the process, so that memory of one runtime is never taken for that of another. What a
// simulated run sees must not depend on what ran before it, so there the number is the run's own.
std::uint64_t machine::next_context_id() noexcept {
  if (play_ == nullptr) return last_context_id.fetch_add(1) + 1;
  return *lookout_ * ids_per_simulated_runtime + next_id();
}

namespace {

// Handles may outlive a simulated run: the machine's own end, which they bring about, needs the
// simulation still.
struct end_in_play {
  std::shared_ptr<simulation> play;
  void operator()(machine* ended) const { delete ended; }
};

} // namespace

std::shared_ptr<machine> machine::create(runtime_options options, simulation* play,
                                         std::optional<fault_plan> faults) {
  if (play == nullptr) return std::make_shared<machine>(std::move(options), play, std::move(faults));
  return {new machine(std::move(options), play, std::move(faults)),
          end_in_play{play->weak_from_this().lock()}};
}

machine::machine(runtime_options options, simulation* play, std::optional<fault_plan> faults)
    : options_(std::move(options)), compute_threads_(threads_for(options_, play != nullptr)),
      budget_bytes_(budget_for(options_)), play_(play),
      play_kept_(play != nullptr ? play->weak_from_this().lock() : nullptr),
      time_(play != nullptr ? static_cast<const clock*>(&play->time()) : &steady_time_),
      began_at_(time_->now()),
      gate_(faults ? std::make_unique<fault_gate>(*this, std::move(*faults)) : nullptr),
      witness_(play != nullptr ? play->watch_runtime() : nullptr),
      watched_(gate_ != nullptr || witness_ != nullptr),
      uses_(std::make_shared<use_table>()), end_line_(std::make_shared<timeline>(0)) {
  watch_forks();
  if (gate_ && witness_ != nullptr) witness_->may_be_struck(gate_->injector());
  if (gate_ && play_ == nullptr) owed_ = &owe_account(gate_->injector());
  end_line_->accept(1);
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

// Either the end of the runtime sees the device, or whoever opens it sees the end.
void machine::mark_open(std::uint32_t index) noexcept {
  const std::lock_guard lock(start_guard_);
  opened_[index].store(true, std::memory_order_release);
}

status machine::trouble() const {
  if (!inherited()) return make_status(code::uninitialized, "the runtime has been shut down");
  return make_status(code::not_supported, "this process was forked after the runtime had "
                                          "started; make a runtime of its own in it");
}

status machine::why_unanswered() const {
  return stopping() && !loss_scope::told() ? trouble() : loss_scope::why();
}

machine::place machine::locate(const void* address) const noexcept {
  for (std::uint32_t i = 0; i < devices_.size(); ++i) {
    if (is_open(i) && devices_[i]->memory->range().contains(address)) {
      return {place::kind::device, devices_[i].get(), devices_[i]->memory.get()};
    }
  }
  if (host_memory_ && host_memory_->range().contains(address)) {
    return {place::kind::pinned, nullptr, host_memory_.get()};
  }
  if (maps_memory()) [[unlikely]] {
    for (const auto& each : devices_) {
      if (each->maps(address)) return {place::kind::device, each.get(), nullptr};
    }
  }
  const bool counted = (memory_looks() & memory_look::counted) != 0;
  if (counted && uses_->is_host(address, 1)) [[unlikely]] return {place::kind::pinned};
  return {};
}

std::shared_ptr<context_record> machine::find_context(std::uint64_t id) const {
  for (const auto& each : devices_) {
    if (auto found = each->find(id)) return found->destroyed() ? nullptr : found;
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
  if (inherited()) return;
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
  if (inherited()) return {};
  const std::lock_guard lock(diagnostics_guard_);
  return diagnostics_;
}

status machine::play_on(const char* call, bool until_something_happened) const {
  if (stopping()) return {};
  play_->note_call(call);
  const bool goes_on = until_something_happened ? play_->poll_pause() : play_->pause();
  return goes_on ? status{} : play_->why_let_go();
}

// -- start --------------------------------------------------------------------

std::unique_ptr<stage_config> machine::make_config() {
  if (gate_) wire_ = std::make_unique<gated_wire>(*gate_, play_);
  if (play_ != nullptr) return std::make_unique<sim_config>(*play_, wire_.get(), witness_);
  scheduler_options wanted;
  wanted.control_workers = options_.control_workers;
  wanted.compute_threads = compute_threads_;
  wanted.dma_threads = options_.dma_threads;
  wanted.callback_threads_max = options_.callback_threads_max;
  wanted.spin_us = options_.spin_us;
  auto made = std::make_unique<live_config>(wanted);
  made->messages_pass = wire_.get();
  return made;
}

status machine::start() {
  if (auto s = check_alive(); !s.ok()) return s;
  if (started_.load(std::memory_order_acquire)) return {};
  // Told before the lock is taken: a child forked from now on finds it held.
  const auto here = fork_generation() + 1;
  began_in_.store(here, std::memory_order_release);
  const std::lock_guard lock(start_guard_);
  if (started_.load(std::memory_order_acquire)) return {};
  if (stopping()) return trouble();
  if (play_ != nullptr && play_->over()) {
    return make_status(code::uninitialized, "the simulated run of this runtime has ended");
  }
  began_in_.store(here, std::memory_order_release); // whoever held the lock may have failed
  auto outcome = set_up();
  if (!outcome.ok()) {
    take_down();
    began_in_.store(0, std::memory_order_release);
    return outcome;
  }
  started_.store(true, std::memory_order_release);
  if (play_ != nullptr) {
    lookout_ = play_->enlist([this] { return describe_waits(); }, [this] { (void)shut_down(); });
  }
  if (gate_) watch_for_losses();
  return {};
}

// What waits for what. Waits of streams alone form no circle, as a wait names a ticket that existed
// before it; but a task may look for what comes after it.
std::string machine::describe_waits() const {
  std::vector<std::shared_ptr<stream_record>> all;
  for (const auto& context : all_contexts()) {
    for (auto& stream : context->streams()) all.push_back(std::move(stream));
  }
  std::string text;
  std::vector<std::size_t> next(all.size(), no_next);
  const auto place_of = [&all](const timeline* line) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [line](const auto& each) { return each->line().get() == line; });
    return found != all.end() ? gsl::narrow<std::size_t>(found - all.begin()) : no_next;
  };
  const auto looks = play_->looks_of_tasks();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& stream = all[i];
    if (stream->line()->idle()) continue;
    text += "\n  " + stream->situation() + stream->origin_of(stream->line()->completed() + 1);
    const auto awaited = stream->awaited_now();
    for (const auto& other : all) {
      if (other->line() != awaited.line) continue;
      const auto origin = other->origin_of(awaited.number);
      if (!origin.empty()) text += "; number " + std::to_string(awaited.number) + " is" + origin;
    }
    if (const auto entry = stream->held_up_by(); !entry.empty()) {
      text += "; held up by the fault '" + entry + "'";
    }
    next[i] = place_of(awaited.line.get());
    for (const auto& each : looks) {
      if (each.stream == stream->id() && !awaited.line) next[i] = place_of(each.line);
    }
  }
  for (const auto& circle : circles_of(next)) {
    text += "\n  in a circle:";
    for (const auto each : circle) text += " stream " + std::to_string(all[each]->id()) + " waits for";
    text += " stream " + std::to_string(all[circle.front()]->id());
  }
  return text;
}

void machine::watch_for_losses() {
  if (play_ != nullptr) {
    play_->look_every(*lookout_, recovery_interval, [this] { return recover_losses(*this); });
    return;
  }
  (void)scheduler_->at_time(after(time_->now(), recovery_interval), [this] {
    (void)recover_losses(*this);
    if (!stopping()) watch_for_losses();
  });
}

// Each lane gets its first thread here, where the lack of one is told to whoever asked: later calls
// need no thread beyond those.
status machine::set_up() {
  const char* what = "the pinned host memory";
  try {
    host_memory_ = memory_record::create("pinned host memory", host_memory_bytes());
    what = "the runtime";
    config_ = make_config();
    system_ = std::make_unique<caf::actor_system>(*config_);
    let_go_of_logger();
    system_->await_actors_before_shutdown(false);
    scheduler_ = &dynamic_cast<class scheduler&>(system_->scheduler());
    for (std::size_t i = 0; i < lane_count; ++i) {
      const auto id = static_cast<lane_id>(i);
      if (!scheduler_->ensure_served(id)) return no_thread(id);
    }
    root_.begin(spawn_root());
    host_memory_keeper_.begin(spawn_host_memory_keeper());
  } catch (const std::bad_alloc&) {
    return make_status(code::memory_allocation,
                       std::string("the process has no address space for ") + what);
  } catch (const std::system_error& e) {
    return make_status(code::resource_shortage,
                       std::string("the system refuses what ") + what + " needs: " + e.what());
  }
  return {};
}

caf::actor machine::spawn_root() {
  return spawn_actor<root_actor>(*system_, std::ref(*this));
}

caf::actor machine::spawn_host_memory_keeper() {
  return spawn_actor<memory_actor>(*system_, std::ref(*this), host_memory_, budget_bytes_,
                                   [this](const actor_base&) { host_memory_keeper_died(); });
}

caf::actor machine::spawn_notifier() {
  return spawn_actor<notifier_actor>(*system_, std::ref(*this));
}

void machine::root_died() {
  if (!stopping()) root_.replace([this] { return spawn_root(); });
}

void machine::host_memory_keeper_died() {
  if (!stopping()) host_memory_keeper_.replace([this] { return spawn_host_memory_keeper(); });
}

void machine::notifier_died() {
  if (!stopping()) notifier_.replace([this] { return spawn_notifier(); });
}

void machine::take_down() noexcept {
  for (auto* each : {&root_, &host_memory_keeper_}) {
    each->end();
    each->begin(nullptr);
  }
  if (scheduler_ != nullptr) (void)scheduler_->join(never_ns); // no user code has run yet
  scheduler_ = nullptr;
  system_.reset();
  config_.reset();
  host_memory_.reset();
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
  auto opened = ask<status>(*this, root_, "runtime::device", [&](reply<status> answer) {
    return open_device{at, std::move(answer)};
  });
  if (!opened.ok()) return opened;
  return devices_[at].get();
}

// -- who is told of failures -----------------------------------------------------

caf::actor machine::notifier() {
  const std::lock_guard lock(start_guard_);
  if (!caf::actor(notifier_)) notifier_.replace([this] { return spawn_notifier(); });
  return notifier_;
}

void machine::announce(const status& failure) {
  if (!listeners_.any() || stopping() || !listeners_.begin_notice()) return;
  const auto ended = [this](const status&) { listeners_.end_notice(); };
  if (const caf::actor target = notifier_) post(target, task_failed{failure, reply<status>(ended)});
}

// -- engines that do not come back ---------------------------------------------

status machine::check_engines(const device_record& device, const engine_port& port) const {
  const auto limit = options_.stuck_threads_max;
  const auto lane = lane_for(port.kind());
  if (port.stuck() < limit) return scheduler_->ensure_served(lane) ? status{} : no_thread(lane);
  error_record record;
  record.what = code::over_limit;
  record.message = "device " + std::to_string(device.index()) + " has " +
                   std::to_string(port.stuck()) + " " + to_string(port.kind()) +
                   " engines that were given up on and are still in user code; at " +
                   std::to_string(limit) + " (stuck_threads_max) it takes no more such work " +
                   "until one returns";
  record.device = device.index();
  record.lacking = shortage{"stuck threads", 1, port.stuck(), limit};
  return status(std::move(record));
}

void machine::replace_stuck(const device_record& device, engine_port& port) {
  const bool served = scheduler().replace_thread(lane_for(port.kind()));
  port.replace_engine();
  const bool limit_reached = port.stuck() >= options_.stuck_threads_max;
  if (served && !limit_reached) return;
  recount_engines();
  if (auto s = check_engines(device, port); !s.ok()) {
    note({diagnostic::kind::stuck_threads, 0, s.message()});
  }
}

void machine::stuck_returned(engine_port& port) {
  port.engine_returned();
  scheduler().thread_returned(lane_for(port.kind()));
  if (short_of_engines()) recount_engines();
}

void machine::recount_engines() {
  const std::lock_guard lock(shortage_guard_);
  bool lacking = false;
  for (std::size_t i = 0; i < engine_kind_count; ++i) {
    const auto kind = static_cast<engine_kind>(i);
    lacking = lacking || !scheduler().ensure_served(lane_for(kind));
    for (const auto& each : devices_) {
      lacking = lacking || each->port(kind).stuck() >= options_.stuck_threads_max;
    }
  }
  short_of_engines_.store(lacking, std::memory_order_relaxed);
}

} // namespace troupe
