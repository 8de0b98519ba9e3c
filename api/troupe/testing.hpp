#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/cost_model.hpp"
#include "core/exploration/oracle.hpp"
#include "core/exploration/run_coverage.hpp"
#include "core/exploration/simulated_hang.hpp"
#include "core/faults/fault_plan.hpp"
#include "core/faults/fault_report.hpp"
#include "troupe/runtime.hpp"

namespace troupe {

class simulation;

/// Deterministic runs of any program of the facade: one thing happens at a time, chosen from a
/// seed, in virtual time, on real client threads that take turns.
namespace testing {

/// Another process that uses a device: it holds some of the device's streams and events, which count
/// against the limits, until it ends. Live as simulated; any thread; before the runtime's end.
class neighbour {
public:
  /// Throws `troupe::error` (207005) if the device has not that much left.
  neighbour(const device& of, std::uint64_t streams, std::uint64_t events = 0);
  ~neighbour();
  neighbour(const neighbour&) = delete;
  neighbour& operator=(const neighbour&) = delete;

private:
  std::shared_ptr<machine> home_;
  device_record* record_;
  std::uint64_t streams_;
  std::uint64_t events_;
};

/// How the next thing to happen is chosen.
enum class order : unsigned char {
  fifo,    ///< first come, first served: the plainest run
  explore, ///< a strategy drawn from the seed, see `describe_strategy`
};

/// When work in progress may end.
enum class work_end : unsigned char {
  when_due,  ///< by the modelled durations: times are exact
  any_order, ///< chosen like everything else: any order that real durations could bring about
};

struct simulation_options {
  std::uint64_t seed = 0;
  order choice = order::fifo;
  work_end ends = work_end::when_due;
  cost_model costs;
  runtime_options runtime;      ///< `compute_threads` 0 means 2, whatever the machine has
  /// Replays this schedule instead of what `choice` says; the empty one: first come, first served.
  /// A script that speaks of faults brings its own: then those of `faults` are left out.
  std::optional<std::string> replay_script;
  std::uint64_t steps_max = 1'000'000; ///< a longer run counts as hung
  std::uint64_t expected_steps = 1'000; ///< about how long a run is; for the strategies
  bool keep_trace = false;
  bool measure_coverage = false; ///< which messages met actors in which state
  std::optional<fault_plan> faults; ///< befall the runtime of the stage
  /// Rules that this program's runs must keep, besides `default_oracles`, of which those named in
  /// `oracles_off` are not asked.
  std::vector<oracle> oracles;
  std::vector<std::string> oracles_off;
};

/// Thrown by `simulate` when a run broke a rule and nothing else was thrown.
class oracle_violated : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// What came of a simulated run.
struct simulation_report {
  /// What the body threw, or else a client that nobody has joined; not what only tells of the hang.
  std::exception_ptr thrown;
  /// Nothing could happen any more and somebody waited, or the steps were used up: who waited in
  /// which call for what, who waits for each other's end, and what each stream is at. Whoever
  /// caught what and whatever came of it.
  std::optional<std::string> hang;
  std::uint64_t steps = 0;            ///< until the end, or until the run hung
  std::chrono::nanoseconds elapsed{}; ///< virtual
  std::uint64_t order_hash = 0;       ///< equal for runs in which the same happened in one order
  std::string strategy;               ///< how the order was chosen
  std::string script;                 ///< the schedule as one line that replays it
  std::vector<std::string> trace;     ///< a line a step, if kept
  /// Of a kept trace, the lines that led to the end of the body, or to what was thrown: each sent
  /// what the next one is about. At most 40, the latest.
  std::vector<std::string> chain;
  fault_report faults;                ///< what the plan did, if there was one
  /// Of the runtimes that `stage::make_runtime` made with a plan, in that order.
  std::vector<fault_report> further_faults;
  std::vector<std::string> unmet;     ///< entries of `replay_script` that nothing in the run fitted
  std::vector<std::string> unused_costs; ///< kernels of `costs` that were never submitted
  run_record record;                  ///< what happened to each command, and what was observed
  std::vector<violation> violations;  ///< of the oracles, by what is on record
  run_coverage covered;               ///< if measured
};

/// A client thread of a simulated run; see `stage::start_client`.
class client {
public:
  /// Waits, in virtual time, until its body has ended; rethrows what left it. Once the run is over:
  /// nothing. Inside kernels and callbacks: 207000, thrown.
  void join();

private:
  friend class stage;
  client(std::shared_ptr<simulation> play, std::size_t number);

  std::shared_ptr<simulation> play_;
  std::size_t number_;
};

/// What the body of a simulated run is given. It lives, with its runtime, until all clients have
/// ended. What waits or makes something is refused inside kernels and callbacks: it throws 207000.
class stage {
public:
  [[nodiscard]] troupe::runtime& runtime() noexcept { return *runtime_; }

  /// A further runtime in the same simulation. It is shut down when all clients have ended, and so
  /// is one that was moved out of `runtime()`: whatever is left of it refuses with 100001.
  [[nodiscard]] troupe::runtime make_runtime(runtime_options options,
                                             std::optional<fault_plan> faults = {}) const;

  /// A real thread that runs `body` when it is its turn; it need not be joined. Threads made in
  /// other ways must not call the runtime or the stage: what waits, asks, submits or looks throws a
  /// `std::logic_error` there. Not noticed, and forbidden as well: to let go there of the last
  /// handle of anything, to raise signals, and what is asked of ids, profiles and options only.
  /// Clients must wait for each other by `join`, events, signals or `wait_until`, never by means
  /// that the simulation does not know: a mutex held over a wait, or a loop over a variable, never
  /// ends.
  /// All of a run happens on one processor; a thread that a body makes is bound to it as well,
  /// unless it binds itself.
  client start_client(std::string name, std::function<void()> body) const;

  /// Puts a result of the run on record, under a name that may come again. `explore` and `sweep`
  /// compare what is observed with the plainest run: first come, first served, no faults.
  void observe(std::string name, std::span<const std::byte> bytes) const;
  template <class T>
  void observe(std::string name, std::span<const T> values) const {
    observe(std::move(name), std::as_bytes(values));
  }

  /// Waits for that long in virtual time.
  void pass_time(std::chrono::nanoseconds length) const;

  /// Lets things happen until `holds`, which is asked on this thread whenever something has
  /// happened, and may call the runtime. A hang when nothing can happen any more.
  void wait_until(const std::function<bool()>& holds) const;

  /// Virtual time since the run began.
  [[nodiscard]] std::chrono::nanoseconds elapsed() const;

  stage(std::shared_ptr<simulation> play, const simulation_options& options);
  ~stage();
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;

private:
  friend class tenant_run; // see tenants.hpp
  client start_tenant(std::string name, std::uint32_t number, std::function<void()> body) const;

  std::shared_ptr<simulation> play_;
  std::unique_ptr<troupe::runtime> runtime_;
};

/// Runs `body` as client "main" of a fresh simulation, on the calling thread, lets the other
/// clients end, and ends the runtime. Throws what `body` or a client threw, `oracle_violated` if a
/// rule was broken, and `troupe::error` for bad options; but of a run that hung all of it comes in
/// the result.
///
/// When a run hangs, whoever waits is let go. Calls that return a status return 107019 with the
/// report, also in destructors and functions that may not throw; `join`, `pass_time` and
/// `wait_until` throw `simulated_hang`; counters and the like return what they see. Then all goes
/// on, so that the clients can clean up, and whoever waits in vain again is let go again. A client
/// that was let go 100 times, as it tries and tries, gets `simulated_hang` out of each further such
/// call; that is no `std::exception`. One that was let go 200 times ends the process with the
/// report.
///
/// Looks (queries, counters, failures, health, signals) let something happen, so that loops over
/// them end. After 100 in a row between which nothing happened time passes; 10,000 are a hang.
///
/// With a plan of faults, these stop when `body` returns, and unless the run hung or other clients
/// still run, each device in use is given a fixed piece of work, off the record; a device that
/// cannot do it, not even after all its contexts have been destroyed by force, breaks the rule
/// "liveness".
[[nodiscard]] simulation_report simulate(const simulation_options& options,
                                         const std::function<void(stage&)>& body);

/// The same, but what is thrown, and what broke a rule, comes with the report of the run.
[[nodiscard]] simulation_report try_simulate(const simulation_options& options,
                                             const std::function<void(stage&)>& body);

} // namespace testing
} // namespace troupe
