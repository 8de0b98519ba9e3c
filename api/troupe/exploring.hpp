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
  std::uint64_t runs = 200;
  bool swarm = true;             ///< draws engines, chunk size and `ends` from the seed as well
  bool twice = false;            ///< runs every seed two times and compares the orders
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
  std::string script;        ///< its schedule; the empty one is first come, first served
  std::uint64_t entries = 0; ///< of the script
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
  coverage seen; ///< the orders, and with `measure_coverage` which messages met which actors; its
                 ///< `describe` is a table

  /// How many runs and orders were seen and, if one failed, how to see it again.
  [[nodiscard]] std::string describe() const;
};

/// A test body; the same for every run.
using explored_body = std::function<void(stage&)>;

/// Runs `body` under one seed after the other until a run fails, then shrinks that one. A run fails
/// when the body or a client throws, when it hangs, when it breaks the rule of an oracle, when
/// `verdict` (called after each run; null: none) returns a text that is not empty, when it observes
/// something else than the plainest run (see `stage::observe`; with a fault it may observe less,
/// and one that flips bits unseen excuses it), or when two runs of a seed differ. Throws
/// `troupe::error` for bad options.
[[nodiscard]] exploration_result explore(
    const exploration_options& options, const explored_body& body,
    const std::function<std::string(const simulation_report&)>& verdict = nullptr);

/// One run again: the options that `seed` draws, the order that `script` says. Returns what went
/// wrong, or an empty text.
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
  std::string fault;        ///< class and number: "drop of message 17"
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
/// `options`. A run fails as for `explore`; findings are all kept.
/// `stride` above 1 tries only every so-and-so-many-th thing, where time is short.
[[nodiscard]] sweep_result sweep(
    const simulation_options& options, const explored_body& body,
    const std::function<std::string(const simulation_report&)>& verdict = nullptr,
    const std::vector<fault_class>& classes = all_fault_classes(), std::uint64_t stride = 1);

} // namespace troupe::testing
