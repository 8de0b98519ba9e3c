#include "troupe/exploring.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <sstream>

#include "api/src/trial.hpp"
#include "core/exploration/schedule_script.hpp"
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
  for (const auto& line : report.trace) made.trace += line + "\n";
  for (const auto& line : report.chain) made.chain += line + "\n";
}

// The smallest schedule under which this seed's run still fails.
failing_run shrunk(const exploration_options& options, std::uint64_t seed, const run_outcome& found,
                   trial& runs) {
  failing_run made;
  made.seed = seed;
  auto replaying = drawn(options, seed);
  made.draw = describe_draw(replaying, found.report.strategy);
  const auto fails = [&](const schedule_script& script) {
    replaying.replay_script = to_string(script);
    return !runs.run(replaying).trouble.empty();
  };
  const auto parsed = parse_schedule_script(found.report.script);
  const auto small = shrink(parsed.value(), fails, {options.shrink_replays_max});
  made.script = to_string(small.script);
  made.entries = small.script.entries.size();
  made.replays = small.replays;
  replaying.replay_script = made.script;
  replaying.keep_trace = true;
  const auto last = runs.run(replaying);
  made.what = last.trouble.empty() ? found.trouble : last.trouble;
  put_trace(made, last.report);
  return made;
}

// The one run that `options.script` asks for.
exploration_result explore_one(const exploration_options& options, trial& runs) {
  auto made = drawn(options, options.first_seed);
  made.replay_script = options.script;
  made.keep_trace = true;
  const auto seen = runs.run(made);
  exploration_result result;
  result.runs = 1;
  result.distinct_orders = 1;
  result.new_in_last_tenth = 1;
  result.steps = seen.report.steps;
  (void)result.seen.end_run(seen.report.order_hash);
  result.seen.add(seen.report.covered);
  if (seen.trouble.empty()) return result;
  auto& failure = result.failure.emplace();
  failure.seed = options.first_seed;
  failure.draw = describe_draw(made, seen.report.strategy);
  failure.what = seen.trouble;
  failure.script = *options.script;
  failure.entries = parse_schedule_script(failure.script).value().entries.size();
  failure.found_after = 1;
  put_trace(failure, seen.report);
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
  trial runs(options.base, body, verdict);
  if (options.script) return explore_one(options, runs);
  exploration_result result;
  for (std::uint64_t i = 0; i < options.runs; ++i) {
    const auto seed = options.first_seed + i;
    const auto made = drawn(options, seed);
    auto seen = runs.run(made);
    ++result.runs;
    result.steps += seen.report.steps;
    (void)result.seen.end_run(seen.report.order_hash);
    result.seen.add(seen.report.covered);
    if (seen.trouble.empty() && options.twice) {
      const auto again = runs.run(made);
      if (again.report.order_hash != seen.report.order_hash) {
        seen.trouble = "two runs of one seed went in different orders: something outside the "
                       "simulation decides (a clock, an address, a thread of its own)";
      }
    }
    if (seen.trouble.empty()) continue;
    result.failure = shrunk(options, seed, seen, runs);
    result.failure->found_after = result.runs;
    break;
  }
  result.distinct_orders = result.seen.distinct_orders();
  result.new_in_last_tenth = result.seen.new_in_last(std::max<std::uint64_t>(1, result.runs / 10));
  return result;
}

std::string replay(const exploration_options& options, std::uint64_t seed, std::string_view script,
                   const explored_body& body, const verdict_function& verdict) {
  auto made = drawn(options, seed);
  made.replay_script = std::string(script);
  return trial(options.base, body, verdict).run(made).trouble;
}

std::string failing_run::replay_line() const {
  return "replay(options, " + std::to_string(seed) + ", \"" + script + "\", body)";
}

std::string exploration_result::describe() const {
  std::ostringstream text;
  text << runs << " runs, " << distinct_orders << " different orders, " << new_in_last_tenth
       << " of them new in the last tenth";
  if (!failure) return std::move(text).str();
  text << "\nseed " << failure->seed << " (" << failure->draw << ") fails: " << failure->what
       << "\nsmallest schedule, " << failure->entries << " entries after " << failure->replays
       << " replays: " << (failure->script.empty() ? "first come, first served" : failure->script)
       << "\nto see it again: " << failure->replay_line();
  if (!failure->chain.empty()) text << "\nwhat led there:\n" << failure->chain;
  return std::move(text).str();
}

} // namespace troupe::testing
