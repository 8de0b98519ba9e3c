#include "tests/planted/finder.hpp"

#include <algorithm>

#include "tests/planted/planted_bug.hpp"

namespace troupe::planted {
namespace {

std::string up_to(const std::string& text, const char* ends) {
  return text.substr(0, std::min(text.find_first_of(ends), text.size()));
}

} // namespace

std::optional<finding> find_bug(int number, const job& job, std::uint64_t runs) {
  selected_bug = number;
  // A job with faults has others under each seed, and so is a search of its own.
  const auto at_once = job.faults ? 1 : runs;
  for (std::uint64_t seed = 1; seed <= runs; seed += at_once) {
    auto options = job.options;
    options.first_seed = seed;
    options.runs = at_once;
    if (job.faults) options.base.faults = job.faults(seed);
    const auto seen = testing::explore(options, job.body);
    if (!seen.failure) continue;
    finding made;
    made.strategy = up_to(seen.failure->draw, " ,");
    made.runs = seen.failure->seed;
    made.lines = seen.failure->entries;
    made.script = seen.failure->script;
    made.what = up_to(seen.failure->what, "\n");
    if (options.base.faults && made.script.empty()) {
      const auto& struck = options.base.faults->entries.front();
      made.fault = describe(struck.action) + " of " + std::string(to_string(struck.pick.point)) +
                   " " + std::to_string(struck.pick.ordinal);
      ++made.lines;
    }
    selected_bug = 0;
    return made;
  }
  selected_bug = 0;
  return std::nullopt;
}

} // namespace troupe::planted
