#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/exploration/coverage.hpp"
#include "troupe/testing.hpp"

namespace troupe::testing {

/// What an exploration does with each seed.
struct exploration_options {
  simulation_options base;       ///< seed, order and, with `swarm`, more are set for each run
  std::uint64_t first_seed = 1;
  std::uint64_t runs = 200;      ///< 1 or more
  bool swarm = true;             ///< draws engines, chunk size and `ends` from the seed as well
  bool twice = false;            ///< runs every seed two times and compares all that is on record
  std::uint64_t shrink_replays_max = 1'000;
  /// One run only: `first_seed` under this schedule, as a failing run prints it.
  std::optional<std::string> script;

  /// Options with what the environment says laid over them: TROUPE_SEED (the first seed),
  /// TROUPE_RUNS (1 to 10^9) and TROUPE_SCRIPT (the schedule of one run; an empty one is first
  /// come, first served). Throws `troupe::error` (107000) naming variable, value and what is
  /// allowed.
  [[nodiscard]] static exploration_options from_environment(exploration_options base);
};

/// A run that failed, made as small as it would go.
struct failing_run {
  std::uint64_t seed = 0;
  std::string draw;          ///< strategy and swarm options of that seed
  std::string what;          ///< what went wrong, in the smallest run
  /// Its schedule, and the faults that struck in it, each by its channel and number and of those
  /// only the ones that it takes; the empty one is first come, first served. A plan in the options
  /// is needed no more where the script speaks of faults, if only to say that there are none.
  std::string script;
  std::uint64_t entries = 0; ///< of the script
  /// Whether the script was seen to fail. If not, `script` is that of the run as found, which
  /// passed when it was tried again: something outside the simulation decides.
  bool reproduced = true;
  std::uint64_t found_after = 0; ///< runs
  std::uint64_t replays = 0;     ///< that shrinking took
  std::string trace;         ///< what happened in the smallest run, a line a step
  std::string chain;         ///< of these lines those that led to the failure: each sent what the
                             ///< next one is about

  /// One line to paste into a regression test: `replay(options, seed, "script", body)`.
  [[nodiscard]] std::string replay_line() const;
};

struct exploration_result {
  std::uint64_t runs = 0;
  std::uint64_t distinct_orders = 0;
  std::uint64_t new_in_last_tenth = 0; ///< orders first seen in the last tenth of the runs
  std::uint64_t steps = 0;
  std::optional<failing_run> failure;
  std::vector<fault_report::entry_line> faults; ///< what the plan's entries did, in all runs
  coverage seen; ///< the orders, and with `measure_coverage` which messages met which actors; its
                 ///< `describe` is a table

  /// The names of entries of the plan that struck in no run: of them nothing was tried.
  [[nodiscard]] std::vector<std::string> never_fired() const;

  /// How many runs and orders were seen, what the plan did and, if a run failed, how to see it
  /// again.
  [[nodiscard]] std::string describe() const;
};

/// A test body; the same for every run.
using explored_body = std::function<void(stage&)>;

/// Runs what it is given, and returns the assertions of a test framework that failed meanwhile,
/// a line each; empty: none. What the run throws passes through.
using assertion_watch = std::function<std::string(const std::function<void()>& run)>;

/// From now on each run of a search is made under `by`, and fails when an assertion does. For all
/// the process, before its first search; testing_gtest.hpp does it for GoogleTest.
void watch_assertions(assertion_watch by);

/// Runs `body` under one seed after the other until a run fails, then shrinks that one: its
/// schedule, and the faults that struck. A run fails when the body or a client throws, when it
/// hangs, when it breaks the rule of an oracle, when an assertion in it fails (`watch_assertions`),
/// when `verdict` (called after each run; null: none) returns a text that is not empty, when it
/// observes something else than the plainest run (see `stage::observe`; with a fault it may observe
/// less, and one that flips bits unseen excuses it), or when two runs of a seed differ. The
/// plainest run, first come, first served and without faults, is made before the others and not
/// counted; where anything is observed it must not fail. So what is said of a seed depends on no
/// other.
///
/// Throws `troupe::error` (107000) for bad options, of the runtime and the plan as well, and for 0
/// runs.
[[nodiscard]] exploration_result explore(
    const exploration_options& options, const explored_body& body,
    const std::function<std::string(const simulation_report&)>& verdict = nullptr);

/// One run again: the options that `seed` draws, the order and, if it speaks of them, the faults
/// that `script` says. Returns what went wrong, or an empty text. A run that passes though nothing
/// in it fitted an entry of the script says nothing; the text returned tells which. Throws as
/// `explore`, and for a bad script.
[[nodiscard]] std::string replay(
    const exploration_options& options, std::uint64_t seed, std::string_view script,
    const explored_body& body,
    const std::function<std::string(const simulation_report&)>& verdict = nullptr);

/// One kind of fault of a sweep: what is struck, and what happens to it.
struct fault_class {
  fault_point point;
  fault_action action;
};

/// Every action at every point where it makes sense, with usual parameters.
[[nodiscard]] std::vector<fault_class> all_fault_classes();

struct sweep_finding {
  std::string fault;        ///< class and number: "drop of message 17"; "no fault" if none struck
  std::string victim;       ///< what it hit
  std::string what;         ///< what went wrong
};

struct sweep_result {
  std::uint64_t runs = 0;
  std::uint64_t faults = 0; ///< that struck, one a run
  coverage seen;            ///< as of an exploration
  std::vector<sweep_finding> findings;

  /// How many faults struck and, of each finding, a line; at most 20.
  [[nodiscard]] std::string describe() const;
};

/// Runs `body` under one fault after the other: for each class on the first thing it can strike,
/// then on the second, until a run passes untouched. Complete for single faults under the order of
/// `options`. A run fails as for `explore`; findings are all kept, those of runs in which nothing
/// struck as well. A body that fails without any fault, which is tried first and not counted, is
/// the only finding then.
/// `stride` above 1 tries only every so-and-so-many-th thing, where time is short.
///
/// Throws `troupe::error` (107000) for bad options, for a plan or a script in them, for a class
/// whose action makes no sense at its point, for no class, and for a stride of 0.
[[nodiscard]] sweep_result sweep(
    const simulation_options& options, const explored_body& body,
    const std::function<std::string(const simulation_report&)>& verdict = nullptr,
    const std::vector<fault_class>& classes = all_fault_classes(), std::uint64_t stride = 1);

} // namespace troupe::testing
