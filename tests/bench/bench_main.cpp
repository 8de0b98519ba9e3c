#include "tests/bench/contenders/troupe.hpp"
#include "tests/bench/json_report.hpp"
#include "tests/bench/peers/peers.hpp"
#include "tests/bench/runner.hpp"
#include "tests/bench/table.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

using namespace troupe::bench;

constexpr int exit_crash = 1;
constexpr int exit_usage = 2;
constexpr std::string_view default_judged = "troupe";

/// The columns of the table, in order.
std::vector<contender> all_contenders() {
  return {troupe_contender(),
          troupe_async_contender(),
          direct_peer(),
          tbb_peer(),
          starpu_peer(),
          caf_peer(caf_policy::stealing),
          caf_peer(caf_policy::sharing),
          pocl_peer(),
          mimalloc_peer(),
          buddy_peer()};
}

struct command_line {
  int repeats = 7;
  int turn_limit_s = 60;
  bool quick = false;
  bool list = false;
  std::string json_path;
  std::string judged{default_judged};
  std::vector<std::string> rows;
  std::vector<std::string> contenders;
};

void describe(CLI::App& app, command_line& line) {
  app.add_option("--repeats", line.repeats, "repetitions of each figure, odd; the median counts")
    ->check(CLI::Range(1, 999))
    ->check([](const std::string& text) {
      return (text.back() - '0') % 2 == 1 ? std::string{} : std::string{"must be odd"};
    });
  app.add_option("--rows", line.rows, "only these rows, separated by commas")
    ->delimiter(',')
    ->check([](const std::string& name) {
      return find_row(name) ? std::string{} : "no such row: " + name + " (see --list)";
    });
  app.add_option("--contenders", line.contenders, "only these contenders, separated by commas")
    ->delimiter(',');
  app.add_option("--judge", line.judged, "contender that ratios and limits are about")
    ->capture_default_str();
  app.add_option("--json", line.json_path, "write all figures to this file");
  app.add_option("--turn-limit", line.turn_limit_s, "seconds before a repetition counts as hung")
    ->check(CLI::Range(1, 3600));
  app.add_flag("--quick", line.quick, "a fiftieth of the work, to see that all rows run");
  app.add_flag("--list", line.list, "print the rows and who runs them, and leave");
}

std::vector<row> chosen_rows(const command_line& line) {
  std::vector<row> rows;
  for (const auto& r : all_rows())
    if (line.rows.empty() || std::count(line.rows.begin(), line.rows.end(), r.name) > 0)
      rows.push_back(r);
  return rows;
}

/// Throws CLI::ValidationError for a name that nobody has.
std::vector<contender> chosen_contenders(const command_line& line) {
  auto contenders = all_contenders();
  auto has = [](const auto& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::vector<std::string> known;
  for (const auto& c : contenders)
    known.push_back(c.name);
  if (line.judged != default_judged && !has(known, line.judged))
    throw CLI::ValidationError("--judge", "no such contender: " + line.judged);
  for (const auto& name : line.contenders)
    if (!has(known, name))
      throw CLI::ValidationError("--contenders", "no such contender: " + name);
  if (!line.contenders.empty())
    std::erase_if(contenders, [&](const contender& c) { return !has(line.contenders, c.name); });
  return contenders;
}

void print_list(const std::vector<contender>& contenders) {
  for (const auto& r : all_rows()) {
    std::string who;
    for (const auto& c : contenders)
      if (c.rows.contains(r.name))
        who += (who.empty() ? "" : ",") + c.name;
    fmt::print("{}: {} [{}]\n    {}\n", r.name, r.meaning, to_string(r.figure), who);
  }
}

void show_progress(const row& r, std::string_view name, int round) {
  fmt::print(stderr, "\r\033[K{} {} {}", r.name, name, round);
  std::fflush(stderr);
}

void print_report(const report& r) {
  fmt::print("{}\n{} repetition(s) a figure, medians{}; ^: larger is better; -: no equivalent\n\n",
             figures_table(r), r.repeats, r.quick ? ", QUICK: no meaning as speed" : "");
  if (r.judged_takes_part())
    fmt::print("Limits of {}\n{}", r.judged, limits_table(r));
  for (const auto& p : r.found.problems())
    fmt::print("\n{} {} in {}: {}\n", p.contender, p.crashed ? "FAILED" : "not available", p.row,
               p.reason);
}

int bench(const command_line& line) {
  const auto contenders = chosen_contenders(line);
  if (line.list) {
    print_list(contenders);
    return 0;
  }
  const bool watched = isatty(STDERR_FILENO) != 0;
  run_options options{chosen_rows(line), line.repeats, line.quick,
                      std::chrono::seconds(line.turn_limit_s), {}};
  if (watched)
    options.progress = show_progress;
  report r{options.rows, {}, line.judged, line.repeats, line.quick, run(contenders, options)};
  if (watched)
    fmt::print(stderr, "\r\033[K");
  for (const auto& c : contenders)
    r.contenders.push_back(c.name);
  print_report(r);
  if (!line.json_path.empty())
    write_json(r, line.json_path);
  return r.found.any_crash() ? exit_crash : 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"What Troupe costs, beside its peers: medians of interleaved repetitions."};
  command_line line;
  describe(app, line);
  try {
    app.parse(argc, argv);
    return bench(line);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : exit_usage;
  } catch (const std::exception& e) {
    fmt::print(stderr, "troupe_bench: {}\n", e.what());
    return exit_crash;
  }
}
