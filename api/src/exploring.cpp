#include "troupe/exploring.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <sstream>

#include "api/src/trial.hpp"
#include "core/exploration/schedule_script.hpp"
#include "core/exploration/script_faults.hpp"
#include "core/exploration/seeded.hpp"
#include "core/exploration/shrink.hpp"
#include "core/exploration/strategy.hpp"

namespace troupe::testing {
namespace {

// What a seed decides besides the order: a few options at which programs break.
simulation_options drawn(const exploration_options& options, std::uint64_t seed) {
  auto made = options.base;
  made.seed = seed;
  made.choice = order::explore;
  if (!options.swarm) return made;
  exploration_random random(scramble(seed));
  made.ends = random.below(4) == 0 ? work_end::when_due : work_end::any_order;
  if (made.runtime.compute_threads == 0) {
    made.runtime.compute_threads = static_cast<unsigned>(1 + random.below(3));
  }
  static constexpr unsigned chunks_kib[] = {64, 256, 1024};
  made.runtime.copy_chunk_kib = chunks_kib[random.below(3)];
  return made;
}

std::string describe_draw(const simulation_options& made, const std::string& strategy) {
  std::ostringstream text;
  text << strategy << ", work ends "
       << (made.ends == work_end::any_order ? "in any order" : "when due") << ", "
       << made.runtime.compute_threads << " engines, chunks of " << made.runtime.copy_chunk_kib
       << " KiB";
  return std::move(text).str();
}

void put_trace(failing_run& made, const simulation_report& report) {
  made.trace.clear();
  made.chain.clear();
  for (const auto& line : report.trace) made.trace += line + "\n";
  for (const auto& line : report.chain) made.chain += line + "\n";
}

// A run that failed and now is to fail by a script.
class shrinking {
public:
  shrinking(const exploration_options& options, std::uint64_t seed, trial& runs)
      : runs_(runs), replaying_(drawn(options, seed)),
        limits_{options.shrink_replays_max} {}

  // Nothing if the run does not fail again by its own script.
  std::optional<shrink_result> of(const simulation_report& found) {
    auto script = parse_schedule_script(found.script).value();
    has_faults_ = false;
    if (replaying_.faults) {
      // Of its own accord the plan may strike elsewhere as soon as one of its faults is gone.
      if (const auto faults = script_of(found.faults)) {
        auto whole = script;
        whole.entries.insert(whole.entries.end(), faults->begin(), faults->end());
        has_faults_ = true;
        if (auto small = smaller(whole)) return small;
        has_faults_ = false;
      }
    }
    return smaller(script);
  }

  [[nodiscard]] std::string line_of(const schedule_script& script) const {
    const bool none = std::all_of(script.entries.begin(), script.entries.end(),
                                  [](const schedule_entry& each) { return each.is_delay(); });
    auto whole = script;
    if (has_faults_ && none) whole.entries.push_back(no_faults());
    return to_string(whole);
  }

  run_outcome run(const std::string& line, bool keep_trace) {
    replaying_.replay_script = line;
    replaying_.keep_trace = keep_trace;
    return runs_.run(replaying_);
  }

private:
  std::optional<shrink_result> smaller(const schedule_script& script) {
    if (limits_.replays_max == 0) return shrink_result{script};
    const auto fails = [this](const schedule_script& each) {
      return !run(line_of(each), false).trouble.empty();
    };
    auto small = shrink(script, fails, limits_);
    if (!small.reproduced) return {};
    return small;
  }

  trial& runs_;
  simulation_options replaying_;
  shrink_limits limits_;
  bool has_faults_ = false; // the script holds them, in place of the plan
};

failing_run as_found(const exploration_options& options, std::uint64_t seed,
                     const run_outcome& found) {
  failing_run made;
  made.seed = seed;
  made.draw = describe_draw(drawn(options, seed), found.report.strategy);
  made.what = found.trouble;
  made.script = found.report.script;
  made.entries = parse_schedule_script(made.script).value().entries.size();
  made.reproduced = false;
  put_trace(made, found.report);
  return made;
}

// The smallest script under which this seed's run still fails.
failing_run shrunk(const exploration_options& options, std::uint64_t seed, const run_outcome& found,
                   trial& runs) {
  auto made = as_found(options, seed, found);
  shrinking again(options, seed, runs);
  const auto small = again.of(found.report);
  if (!small) return made;
  made.replays = small->replays;
  const auto line = again.line_of(small->script);
  const auto last = again.run(line, true);
  if (last.trouble.empty()) return made;
  made.reproduced = true;
  made.what = last.trouble;
  made.script = line;
  made.entries = small->script.entries.size();
  put_trace(made, last.report);
  return made;
}

void check(const exploration_options& options) {
  if (options.runs != 0 || options.script) return;
  throw error(code::invalid_parameter, "exploration_options: runs is 0; it is 1 or more");
}

void add(std::vector<fault_report::entry_line>& all, const fault_report& more) {
  if (all.empty()) {
    all = more.entries;
    return;
  }
  for (std::size_t i = 0; i < std::min(all.size(), more.entries.size()); ++i) {
    all[i].matched += more.entries[i].matched;
    all[i].fired += more.entries[i].fired;
  }
}

void count(exploration_result& result, const simulation_report& report) {
  ++result.runs;
  result.steps += report.steps;
  (void)result.seen.end_run(report.order_hash);
  result.seen.add(report.covered);
  add(result.faults, report.faults);
}

// In what a second run of the same seed differs; empty: in nothing.
std::string twin_trouble(const simulation_options& options, const run_outcome& first, trial& runs) {
  const auto text = difference(first, runs.run(options));
  if (text.empty()) return text;
  return "two runs of one seed differ: " + text +
         "; something outside the simulation decides (a clock, an address, a thread or a variable "
         "that outlives the run), and no schedule can show it again";
}

// The one run that `options.script` asks for.
exploration_result explore_one(const exploration_options& options, trial& runs) {
  auto made = drawn(options, options.first_seed);
  made.replay_script = options.script;
  made.keep_trace = true;
  auto seen = runs.replay(made);
  exploration_result result;
  count(result, seen.report);
  result.distinct_orders = 1;
  result.new_in_last_tenth = 1;
  const bool failed = !seen.trouble.empty();
  if (!failed && options.twice) seen.trouble = twin_trouble(made, seen, runs);
  if (seen.trouble.empty()) return result;
  auto& failure = result.failure.emplace(as_found(options, options.first_seed, seen));
  failure.script = *options.script;
  failure.entries = parse_schedule_script(failure.script).value().entries.size();
  failure.found_after = 1;
  failure.reproduced = failed;
  return result;
}

const char* variable(const char* name) { return std::getenv(name); }

std::uint64_t number_from(const char* name, std::uint64_t least, std::uint64_t most,
                          std::uint64_t fallback) {
  const auto* text = variable(name);
  if (text == nullptr || *text == '\0') return fallback;
  const auto* end = text + std::char_traits<char>::length(text);
  std::uint64_t value = 0;
  const auto read = std::from_chars(text, end, value);
  if (read.ec == std::errc{} && read.ptr == end && value >= least && value <= most) return value;
  throw error(code::invalid_parameter, std::string(name) + " is '" + text +
                                           "'; it is a whole number from " + std::to_string(least) +
                                           " to " + std::to_string(most));
}

} // namespace

exploration_options exploration_options::from_environment(exploration_options base) {
  base.first_seed = number_from("TROUPE_SEED", 0, UINT64_MAX, base.first_seed);
  base.runs = number_from("TROUPE_RUNS", 1, 1'000'000'000, base.runs);
  if (const auto* script = variable("TROUPE_SCRIPT")) {
    if (const auto parsed = parse_schedule_script(script); !parsed) {
      throw error(parsed.error().code(), "TROUPE_SCRIPT: " + parsed.error().message());
    }
    base.script = script;
  }
  return base;
}

exploration_result explore(const exploration_options& options, const explored_body& body,
                           const verdict_function& verdict) {
  check(options);
  trial runs(options.base, body, verdict);
  if (options.script) return explore_one(options, runs);
  exploration_result result;
  for (std::uint64_t i = 0; i < options.runs && !result.failure; ++i) {
    const auto seed = options.first_seed + i;
    const auto made = drawn(options, seed);
    auto seen = runs.run(made);
    count(result, seen.report);
    if (!seen.trouble.empty()) {
      result.failure = shrunk(options, seed, seen, runs);
    } else if (options.twice) {
      seen.trouble = twin_trouble(made, seen, runs);
      if (!seen.trouble.empty()) result.failure = as_found(options, seed, seen);
    }
    if (result.failure) result.failure->found_after = result.runs;
  }
  result.distinct_orders = result.seen.distinct_orders();
  result.new_in_last_tenth = result.seen.new_in_last(std::max<std::uint64_t>(1, result.runs / 10));
  return result;
}

std::string replay(const exploration_options& options, std::uint64_t seed, std::string_view script,
                   const explored_body& body, const verdict_function& verdict) {
  auto made = drawn(options, seed);
  made.replay_script = std::string(script);
  return trial(options.base, body, verdict).replay(made).trouble;
}

std::string failing_run::replay_line() const {
  return "replay(options, " + std::to_string(seed) + ", \"" + script + "\", body)";
}

std::vector<std::string> exploration_result::never_fired() const {
  std::vector<std::string> names;
  for (const auto& each : faults) {
    if (each.fired == 0) names.push_back(each.name);
  }
  return names;
}

std::string exploration_result::describe() const {
  std::ostringstream text;
  text << runs << " runs, " << distinct_orders << " different orders, " << new_in_last_tenth
       << " of them new in the last tenth";
  for (const auto& each : faults) {
    text << "\nfault '" << each.name << "' ";
    if (each.fired == 0) text << "never fired, ";
    else text << "fired " << each.fired << " times at ";
    text << each.matched << " matches";
  }
  if (!failure) return std::move(text).str();
  text << "\nseed " << failure->seed << " (" << failure->draw << ") fails: " << failure->what;
  const auto script = failure->script.empty() ? "first come, first served" : failure->script;
  if (failure->reproduced) {
    text << "\nsmallest schedule, " << failure->entries << " entries after " << failure->replays
         << " replays: " << script << "\nto see it again: " << failure->replay_line();
  } else {
    text << "\nit did not fail again by its own schedule, which was: " << script;
  }
  if (!failure->chain.empty()) text << "\nwhat led there:\n" << failure->chain;
  return std::move(text).str();
}

} // namespace troupe::testing
