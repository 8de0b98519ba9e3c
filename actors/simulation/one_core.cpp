#include "actors/simulation/one_core.hpp"

#include <gsl/gsl>

namespace troupe {

one_core::one_core() {
  const auto here = sched_getcpu();
  if (here < 0 || sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(gsl::narrow<std::size_t>(here), &only);
  kept_ = sched_setaffinity(0, sizeof only, &only) == 0;
}

one_core::~one_core() {
  if (kept_) (void)sched_setaffinity(0, sizeof before_, &before_);
}

} // namespace troupe
