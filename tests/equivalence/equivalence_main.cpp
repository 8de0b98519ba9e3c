#include <chrono>
#include <cstdint>
#include <exception>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tests/equivalence/ways.hpp"
#include "troupe/exploring.hpp"

namespace troupe::equivalence {
namespace {

struct program_options {
  std::uint64_t seed = 1;      ///< of the first program
  std::uint64_t programs = 30; ///< without `seconds`
  std::uint64_t schedules = 3; ///< simulated, for each program
  double seconds = 0;          ///< 0: by `programs`
  bool leave_out = false;      ///< order edges, to see that it shows
};

/// Of the order edges that are left out. The rest makes no difference to results: what is read too
/// early or late ends in a maximum, behind a ReLU, or in a rounded byte.
constexpr std::uint64_t seen_at_least_percent = 90;

runtime_options small() {
  runtime_options made;
  made.devices.resize(2);
  for (auto& each : made.devices) each.memory_bytes = std::uint64_t{256} << 20U;
  made.compute_threads = 2;
  return made;
}

testing::exploration_options under(std::uint64_t seed, std::uint64_t schedules) {
  testing::exploration_options how;
  how.base.runtime = small();
  how.first_seed = seed;
  how.runs = schedules;
  how.shrink_replays_max = 100;
  return how;
}

/// One program, live and under several simulated schedules. What differs is thrown.
void try_program(const runtime& live, std::uint64_t seed, std::uint64_t schedules) {
  const auto program = make_program(seed);
  compare_ways(live, program, seed);
  if (schedules == 0) return;
  const auto found = testing::explore(under(seed, schedules), [&](testing::stage& play) {
    compare_ways(play.runtime(), program, seed);
  });
  if (!found.failure) return;
  throw std::runtime_error(found.failure->what + "\nsimulated: seed " +
                           std::to_string(found.failure->seed) + ", script \"" +
                           found.failure->script + '"');
}

/// Leaves each order edge of each program out in turn, and counts where some schedule shows it.
bool run_leaving_out(const program_options& options) {
  runtime live(small());
  std::uint64_t edges = 0;
  std::uint64_t seen = 0;
  for (auto seed = options.seed; seed < options.seed + options.programs; ++seed) {
    const auto program = make_program(seed);
    const auto count = order_edges(live, program, seed);
    for (std::size_t edge = 0; edge < count; ++edge) {
      auto how = under(seed, options.schedules);
      how.shrink_replays_max = 0;
      const auto found = testing::explore(how, [&](testing::stage& play) {
        compare_without(play.runtime(), program, seed, edge);
      });
      ++edges;
      if (found.failure) {
        ++seen;
      } else {
        fmt::print("not seen: edge {} of program {}\n", edge, seed);
      }
    }
  }
  live.shutdown().or_throw();
  fmt::print("{} of {} order edges of {} programs from seed {} were missed when they were left out "
             "({:.1f} percent), under {} schedules each\n",
             seen, edges, options.programs, options.seed,
             100.0 * static_cast<double>(seen) / static_cast<double>(edges), options.schedules);
  return edges > 0 && seen * 100 >= edges * seen_at_least_percent;
}

bool run(const program_options& options) {
  using clock = std::chrono::steady_clock;
  const auto begun = clock::now();
  const auto goes_on = [&](std::uint64_t done) {
    if (options.seconds == 0) return done < options.programs;
    return std::chrono::duration<double>(clock::now() - begun).count() < options.seconds;
  };
  runtime live(small());
  std::uint64_t done = 0;
  for (; goes_on(done); ++done) {
    try {
      try_program(live, options.seed + done, options.schedules);
    } catch (const std::exception& e) {
      fmt::print("DIFFERS: {}\nto see it again: --seed {} --programs 1\n", e.what(),
                 options.seed + done);
      return false;
    }
  }
  live.shutdown().or_throw();
  fmt::print("{} programs from seed {}, each live and under {} simulated schedules: equal results "
             "in every way\n",
             done, options.seed, options.schedules);
  return true;
}

} // namespace
} // namespace troupe::equivalence

int main(int argc, char** argv) {
  CLI::App app("Runs random programs of operators in every way there is and compares the results.\n"
               "Exit codes: 0 all equal, 1 some differ or failed, 2 usage.");
  app.name("troupe_equivalence");
  troupe::equivalence::program_options options;
  app.add_option("--seed", options.seed, "of the first program; each next one has the next")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 52U))
      ->capture_default_str();
  app.add_option("--programs", options.programs, "how many")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40U))
      ->capture_default_str();
  app.add_option("--schedules", options.schedules, "simulated schedules for each, besides a live run")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{100'000}))
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "for so long, however many programs that are")
      ->check(CLI::Range(0.1, 1e7));
  app.add_flag("--leave-out", options.leave_out,
               "each order edge of each program in turn, to see how many of them show");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  const auto run =
      options.leave_out ? troupe::equivalence::run_leaving_out : troupe::equivalence::run;
  return run(options) ? 0 : 1;
}
