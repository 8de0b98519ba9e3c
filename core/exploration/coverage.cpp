#include "core/exploration/coverage.hpp"

#include <algorithm>
#include <sstream>

#include <gsl/gsl>

#include "core/exploration/cast.hpp"

namespace troupe {
namespace {

std::uint64_t count_of(const run_coverage& seen, const handled_message& what) {
  const auto found = seen.messages.find(what);
  return found == seen.messages.end() ? 0 : found->second;
}

std::string figure(std::uint64_t count) { return count == 0 ? "-" : std::to_string(count); }

} // namespace

bool coverage::end_run(std::uint64_t order) {
  const bool is_new = orders_.insert(order).second;
  if (is_new) new_runs_.push_back(runs_);
  ++runs_;
  return is_new;
}

std::uint64_t coverage::new_in_last(std::uint64_t n) const {
  const std::uint64_t begin = runs_ - std::min(n, runs_);
  const auto first = std::lower_bound(new_runs_.begin(), new_runs_.end(), begin);
  return gsl::narrow_cast<std::uint64_t>(new_runs_.end() - first);
}

std::uint64_t coverage::last_new_run() const {
  return new_runs_.empty() ? 0 : new_runs_.back() + 1;
}

std::string coverage::describe() const {
  const auto orders = std::to_string(runs_) + " runs, " + std::to_string(distinct_orders()) +
                      " different orders, the last new one in run " +
                      std::to_string(last_new_run()) + "\n";
  if (seen_.messages.empty()) return "which messages met which actors was not measured\n" + orders;
  std::ostringstream table;
  std::ostringstream unseen;
  std::size_t pairs_possible = 0;
  table << "| actor | state | message | before a fault | after one |\n|---|---|---|---|---|\n";
  for (const auto& role : cast()) {
    pairs_possible += role.messages.size() * role.messages.size();
    for (const auto state : role.states) {
      for (const auto message : role.messages) {
        handled_message what{std::string(role.name), std::string(state), std::string(message)};
        const auto before = count_of(seen_, what);
        what.after_fault = true;
        const auto after = count_of(seen_, what);
        const auto line = "| " + what.role + " | " + what.state + " | " + what.message + " | ";
        if (before + after != 0) {
          table << line << figure(before) << " | " << figure(after) << " |\n";
        } else {
          unseen << "  " << what.role << ", " << what.state << ": " << what.message << "\n";
        }
      }
    }
  }
  table << "not seen:\n" << unseen.str();
  table << seen_.pairs.size() << " of " << pairs_possible << " pairs of neighbouring messages; "
        << orders;
  return std::move(table).str();
}

} // namespace troupe
