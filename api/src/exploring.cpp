#include "api/src/exploring.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "core/exploration/coverage.hpp"
#include "core/exploration/schedule_script.hpp"
#include "core/exploration/seeded.hpp"
#include "core/exploration/shrink.hpp"
#include "core/exploration/strategy.hpp"

namespace troupe::testing {
namespace {

std::string text_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& e) {
    return *e.what() != '\0' ? e.what() : "an exception without a text";
  } catch (...) {
    return "an exception of unknown type";
  }
}

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

// The smallest schedule under which this seed's run still fails.
failing_run shrunk(const exploration_options& options, std::uint64_t seed, const run_outcome& found,
                   const explored_body& body, const verdict_function& verdict) {
  failing_run made;
  made.seed = seed;
  auto replaying = drawn(options, seed);
  made.draw = describe_draw(replaying, found.report.strategy);
  const auto fails = [&](const schedule_script& script) {
    replaying.replay_script = to_string(script);
    return !run_once(replaying, body, verdict).trouble.empty();
  };
  const auto parsed = parse_schedule_script(found.report.script);
  const auto small = shrink(parsed.value(), fails, {options.shrink_replays_max});
  made.script = to_string(small.script);
  made.entries = small.script.entries.size();
  made.replays = small.replays;
  replaying.replay_script = made.script;
  replaying.keep_trace = true;
  const auto last = run_once(replaying, body, verdict);
  made.what = last.trouble.empty() ? found.trouble : last.trouble;
  for (const auto& line : last.report.trace) made.trace += line + "\n";
  return made;
}

std::uint64_t number_from(const char* variable, std::uint64_t fallback) {
  const auto* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return fallback;
  char* end = nullptr;
  const auto value = std::strtoull(text, &end, 10);
  if (*end != '\0') {
    throw error(code::invalid_parameter,
                std::string(variable) + " is '" + text + "'; it is a number of decimal digits");
  }
  return value;
}

} // namespace

run_outcome run_once(const simulation_options& options, const explored_body& body,
                     const verdict_function& verdict) {
  run_outcome seen;
  seen.report = try_simulate(options, body);
  if (seen.report.hang) seen.trouble = *seen.report.hang;
  if (seen.report.thrown) seen.trouble = text_of(seen.report.thrown);
  if (seen.trouble.empty() && verdict) seen.trouble = verdict(seen.report);
  return seen;
}

exploration_options exploration_options::from_environment(exploration_options base) {
  base.first_seed = number_from("TROUPE_SEED", base.first_seed);
  base.runs = number_from("TROUPE_RUNS", base.runs);
  return base;
}

exploration_result explore(const exploration_options& options, const explored_body& body,
                           const verdict_function& verdict) {
  exploration_result result;
  coverage orders;
  for (std::uint64_t i = 0; i < options.runs; ++i) {
    const auto seed = options.first_seed + i;
    const auto made = drawn(options, seed);
    auto seen = run_once(made, body, verdict);
    ++result.runs;
    result.steps += seen.report.steps;
    (void)orders.end_run(seen.report.order_hash);
    if (seen.trouble.empty() && options.twice) {
      const auto again = run_once(made, body, verdict);
      if (again.report.order_hash != seen.report.order_hash) {
        seen.trouble = "two runs of one seed went in different orders: something outside the "
                       "simulation decides (a clock, an address, a thread of its own)";
      }
    }
    if (seen.trouble.empty()) continue;
    result.failure = shrunk(options, seed, seen, body, verdict);
    result.failure->found_after = result.runs;
    break;
  }
  result.distinct_orders = orders.distinct_orders();
  result.new_in_last_tenth = orders.new_in_last(std::max<std::uint64_t>(1, result.runs / 10));
  return result;
}

std::string replay(const exploration_options& options, std::uint64_t seed, std::string_view script,
                   const explored_body& body, const verdict_function& verdict) {
  auto made = drawn(options, seed);
  made.replay_script = std::string(script);
  return run_once(made, body, verdict).trouble;
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
  return std::move(text).str();
}

} // namespace troupe::testing
