#include "core/exploration/plain_choosers.hpp"

#include <algorithm>

#include <gsl/gsl>

namespace troupe {

std::size_t first_come(std::span<const choice> enabled) {
  Expects(!enabled.empty());
  const auto first = std::min_element(enabled.begin(), enabled.end(), comes_before);
  return gsl::narrow_cast<std::size_t>(first - enabled.begin());
}

std::size_t fifo_chooser::choose(std::span<const choice> enabled, std::uint64_t) {
  return first_come(enabled);
}

std::size_t walk_chooser::choose(std::span<const choice> enabled, std::uint64_t) {
  Expects(!enabled.empty());
  return gsl::narrow_cast<std::size_t>(random_.below(enabled.size()));
}

} // namespace troupe
