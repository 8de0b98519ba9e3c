#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>

#include "actors/device_record.hpp"
#include "actors/failure_listeners.hpp"
#include "actors/keeper_handle.hpp"
#include "actors/process.hpp"
#include "actors/scheduling/clock.hpp"
#include "actors/scheduling/scheduler.hpp"
#include "actors/scheduling/stage_config.hpp"
#include "actors/ticket.hpp"
#include "core/diagnostic.hpp"
#include "core/faults/fault_plan.hpp"
#include "core/kernel_registry.hpp"
#include "core/runtime_options.hpp"

namespace troupe {

class address_space;
class fault_gate;
class gated_wire;
struct owed_account;
class simulation;
class use_table;
class witness;

/// Everything one runtime is made of: options, scheduler, devices. It exists from the making of the
/// runtime until the last handle is gone; its threads run from the first use of a device until
/// `shut_down`. Several live in one process and know nothing of each other.
class machine : public std::enable_shared_from_this<machine> {
public:
  /// A machine that has not started: it can tell what devices it has and costs nothing else.
  /// With `play` all of it happens in that simulation.
  [[nodiscard]] static std::shared_ptr<machine> create(runtime_options options,
                                                       simulation* play = nullptr,
                                                       std::optional<fault_plan> faults = {});
  machine(runtime_options options, simulation* play, std::optional<fault_plan> faults);
  ~machine();
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;

  // -- observers, any thread --------------------------------------------------

  [[nodiscard]] const runtime_options& options() const noexcept { return options_; }
  [[nodiscard]] unsigned compute_threads() const noexcept { return compute_threads_; }
  [[nodiscard]] std::size_t copy_chunk_bytes() const noexcept {
    return std::size_t{1024} * options_.copy_chunk_kib;
  }
  [[nodiscard]] std::uint64_t budget_bytes() const noexcept { return budget_bytes_; }
  [[nodiscard]] const clock& time() const noexcept { return *time_; }

  /// The simulation that this runtime is played in; null for a live one.
  [[nodiscard]] simulation* play() const noexcept { return play_; }

  /// Where faults enter; null for a runtime without a plan of faults.
  [[nodiscard]] fault_gate* gate() const noexcept { return gate_.get(); }

  /// Who puts on record what happens; null for a live runtime.
  [[nodiscard]] witness* seen() const noexcept { return witness_; }

  /// Whether there is either: what the parts ask first where every command passes.
  [[nodiscard]] bool watched() const noexcept { return watched_; }

  /// A point at which, in a simulation, other things may happen before the calling client goes on;
  /// and one after a look at something that has not happened, so that something does.
  /// `call` names the call of the facade and lives for ever. Failure 107019 when the run hangs.
  [[nodiscard]] status let_others_act(const char* call) const {
    if (play_ != nullptr) [[unlikely]] return play_on(call, false);
    return {};
  }
  [[nodiscard]] status let_things_change(const char* call) const {
    if (play_ != nullptr) [[unlikely]] return play_on(call, true);
    return {};
  }
  [[nodiscard]] time_ns began_at() const noexcept { return began_at_; }
  [[nodiscard]] std::size_t device_count() const noexcept { return devices_.size(); }
  [[nodiscard]] device_record& device_at(std::uint32_t index) noexcept { return *devices_[index]; }
  [[nodiscard]] bool is_open(std::uint32_t index) const noexcept;
  [[nodiscard]] bool stopping() const noexcept {
    return stopping_.load(std::memory_order_relaxed);
  }

  /// Success while the runtime may be used: 100001 after shutdown; 207000 in a child process that
  /// was forked after the runtime had started.
  [[nodiscard]] status check_alive() const {
    if (!stopping() && !inherited()) [[likely]] return {};
    return trouble();
  }

  /// Why an answer never came that an actor owed: 100001 when the runtime has ended meanwhile.
  [[nodiscard]] status why_unanswered() const;

  /// Whether the calling process was forked after the runtime had begun to start: its threads are
  /// not here, and each of its locks may be held for ever. Takes none.
  [[nodiscard]] bool inherited() const noexcept {
    const auto began = began_in_.load(std::memory_order_acquire);
    return began != 0 && began != fork_generation() + 1;
  }

  /// Whether some port has lost so many engines that it takes no commands, or some lane has no
  /// thread: then each submission asks `check_engines`. One relaxed load.
  [[nodiscard]] bool short_of_engines() const noexcept {
    return short_of_engines_.load(std::memory_order_relaxed);
  }

  /// Whether anybody will execute what is submitted to `port` of `device`. Failures: 207012 when
  /// `stuck_threads_max` of its engines are stuck in user code, 207005 when all threads of their
  /// lane are and the system refuses another.
  [[nodiscard]] status check_engines(const device_record& device, const engine_port& port) const;

  // -- use, any thread --------------------------------------------------------

  /// The device, put on stage if it was not. Failures: 107001 for an index that does not exist,
  /// those of `check_alive` and of opening.
  [[nodiscard]] result<device_record*> open(std::int64_t index);

  /// Starts the threads and the host memory without a device. Failures, after which nothing has
  /// started and a later call may succeed: 207001 without address space for the host memory, 207005
  /// when the system refuses a thread.
  [[nodiscard]] status start();

  [[nodiscard]] std::uint64_t next_id() noexcept { return last_id_.fetch_add(1) + 1; }

  /// The id of a new context. Those of live runtimes are unique in the process.
  [[nodiscard]] std::uint64_t next_context_id() noexcept;

  /// Where an address lies.
  struct place {
    enum class kind : unsigned char { ordinary, pinned, device };
    kind what = kind::ordinary;
    device_record* device = nullptr; ///< where it is device memory
    memory_record* memory = nullptr; ///< null where it is mapped, and for the program's own
  };
  /// Registered host memory counts as pinned.
  [[nodiscard]] place locate(const void* address) const noexcept;

  // -- addresses for programs that map memory themselves ----------------------

  /// What is to be looked at where a command's memory is concerned; of most runtimes nothing, which
  /// costs a command one load.
  struct memory_look {
    static constexpr std::uint32_t mapped = 1;  ///< a device has addresses that programs map
    static constexpr std::uint32_t checked = 2; ///< the option `checked_memory`
    static constexpr std::uint32_t counted = 4; ///< the table of `uses` has been used
  };
  [[nodiscard]] std::uint32_t memory_looks() const noexcept {
    return memory_looks_.load(std::memory_order_acquire);
  }
  [[nodiscard]] bool maps_memory() const noexcept {
    return (memory_looks() & memory_look::mapped) != 0;
  }
  [[nodiscard]] bool checks_memory() const noexcept { return options_.checked_memory != 0; }

  /// Memory whose uses count from their submission on: temporary blocks, registered host memory.
  [[nodiscard]] use_table& uses() const noexcept { return *uses_; }
  void count_uses() noexcept {
    memory_looks_.fetch_or(memory_look::counted, std::memory_order_release);
  }

  /// Those that `address` is of, or null.
  [[nodiscard]] address_space* space_of(const void* address) const noexcept;

  /// Those of `device`, made at the first call. Failure: 207001 when the process has no such
  /// addresses.
  [[nodiscard]] result<address_space*> open_space(device_record& device);

  /// The context of that id, or null when there is none any more.
  [[nodiscard]] std::shared_ptr<context_record> find_context(std::uint64_t id) const;

  /// Work of all contexts that has not ended.
  [[nodiscard]] frontier outstanding() const;

  void note_freed_in_use(const std::string& memory_name, std::uint64_t bytes, const frontier& uses);
  void note(diagnostic entry);
  [[nodiscard]] std::vector<diagnostic> diagnostics() const;

  /// Tells the listeners, from a thread for callbacks, that a task has failed.
  void announce(const status& failure);
  [[nodiscard]] failure_listeners& listeners() noexcept { return listeners_; }

  /// The actor that calls the listeners, made at the first call; the machine has started.
  [[nodiscard]] caf::actor notifier();

  [[nodiscard]] kernel_registry& kernels() noexcept { return kernels_; }

  // -- the stage, once started ------------------------------------------------

  [[nodiscard]] caf::actor_system& system() noexcept { return *system_; }
  [[nodiscard]] class scheduler& scheduler() noexcept { return *scheduler_; }
  [[nodiscard]] waiting_room& room() noexcept { return *scheduler_; }
  [[nodiscard]] caf::actor host_memory_keeper() const { return host_memory_keeper_; }
  [[nodiscard]] const std::shared_ptr<memory_record>& host_memory() const noexcept {
    return host_memory_;
  }

  /// An actor of the runtime itself has died, which others may do without for a moment: another
  /// takes its place. Called by the one that dies.
  void root_died();
  void host_memory_keeper_died();
  void notifier_died();
  void mark_open(std::uint32_t index) noexcept;

  /// Makes up for an engine of `port` of `device` and its thread, which do not come back from user
  /// code; at `stuck_threads_max` of them the port takes no more commands.
  void replace_stuck(const device_record& device, engine_port& port);

  /// Such an engine has come back.
  void stuck_returned(engine_port& port);

  // -- the end ----------------------------------------------------------------

  /// Refuses new work, lets accepted work finish for `drain_ms`, drops the rest, ends the actors
  /// from the leaves up and joins the threads, all within the stated bounds. Returns the names of
  /// threads that are still in user code: they are left to themselves, and what they use is kept.
  /// A further call waits for the first and returns the same.
  std::vector<std::string> shut_down();

  /// The end where nobody may wait, inside a kernel or a host callback: refuses new work, drops
  /// what is accepted, and keeps the rest of the runtime for good.
  void abandon();

private:
  [[nodiscard]] status trouble() const;
  void watch_for_losses();
  [[nodiscard]] std::string describe_waits() const;
  [[nodiscard]] status play_on(const char* call, bool until_something_happened) const;
  [[nodiscard]] caf::actor spawn_root();
  [[nodiscard]] caf::actor spawn_host_memory_keeper();
  [[nodiscard]] caf::actor spawn_notifier();
  status set_up();
  void take_down() noexcept;
  void recount_engines();
  std::vector<std::string> await_end();
  [[nodiscard]] std::unique_ptr<stage_config> make_config();
  void drain(time_ns deadline);
  void await_end_of(const std::function<bool(time_ns)>& wait, time_ns deadline);
  void drop_work(time_ns deadline);
  void end_actors(time_ns deadline);
  void give_mapped_back();
  void give_memory_back(bool all_returned);
  void close_accounts();
  [[nodiscard]] std::vector<std::shared_ptr<context_record>> all_contexts() const;

  static constexpr std::size_t diagnostics_kept = 1024;

  const runtime_options options_;
  const unsigned compute_threads_;
  const std::uint64_t budget_bytes_;
  simulation* const play_;
  const std::shared_ptr<simulation> play_kept_; // until its last actor has ended
  const steady_clock steady_time_;
  const clock* const time_;
  const time_ns began_at_;
  const std::unique_ptr<fault_gate> gate_;
  owed_account* owed_ = nullptr; // of a live runtime's faults; null: none
  witness* const witness_;
  const bool watched_;
  std::unique_ptr<gated_wire> wire_;
  std::optional<std::size_t> lookout_; // the number on the simulation's list

  std::unique_ptr<stage_config> config_;
  std::unique_ptr<caf::actor_system> system_;
  class scheduler* scheduler_ = nullptr;
  keeper_handle root_;
  keeper_handle host_memory_keeper_;
  std::shared_ptr<memory_record> host_memory_;
  std::vector<std::unique_ptr<device_record>> devices_;
  std::unique_ptr<std::atomic<bool>[]> opened_;
  kernel_registry kernels_;
  failure_listeners listeners_;
  keeper_handle notifier_;

  std::mutex start_guard_;
  std::atomic<bool> started_ = false;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> short_of_engines_ = false;
  const std::shared_ptr<use_table> uses_;
  std::atomic<std::uint32_t> memory_looks_ = checks_memory() ? memory_look::checked : 0U;
  std::atomic<std::uint32_t> began_in_ = 0; // fork generation of the start, plus 1; 0 before it
  std::atomic<std::uint64_t> last_id_ = 0;
  std::mutex shortage_guard_;
  const std::shared_ptr<timeline> end_line_; // reaches 1 when the first shutdown has ended
  std::vector<std::string> survivors_;       // final by then
  mutable std::mutex diagnostics_guard_;
  std::vector<diagnostic> diagnostics_;
};

} // namespace troupe
