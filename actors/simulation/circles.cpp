#include "actors/simulation/circles.hpp"

#include <algorithm>

namespace troupe {

std::vector<std::vector<std::size_t>> circles_of(const std::vector<std::size_t>& next) {
  std::vector<bool> seen(next.size(), false);
  std::vector<std::vector<std::size_t>> found;
  for (std::size_t from = 0; from < next.size(); ++from) {
    std::vector<std::size_t> path;
    auto at = from;
    while (at != no_next && !seen[at]) {
      seen[at] = true;
      path.push_back(at);
      at = next[at];
    }
    const auto first = std::find(path.begin(), path.end(), at);
    if (first != path.end()) found.emplace_back(first, path.end());
  }
  return found;
}

} // namespace troupe
