#include "core/exploration/coverage.hpp"

#include <algorithm>

#include <gsl/gsl>

namespace troupe {

void coverage::add_step(std::uint64_t receiver, std::uint32_t kind) {
  const auto [last, first_of_receiver] = last_kinds_.try_emplace(receiver, kind);
  if (first_of_receiver) return;
  ++pairs_[{last->second, kind}];
  last->second = kind;
}

bool coverage::end_run(std::uint64_t order) {
  last_kinds_.clear();
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

} // namespace troupe
