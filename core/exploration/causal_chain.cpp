#include "core/exploration/causal_chain.hpp"

#include <algorithm>
#include <optional>

#include <gsl/gsl>

namespace troupe {
namespace {

// The last link at `step` or before it.
std::optional<std::size_t> last_up_to(std::span<const cause_link> links, std::uint64_t step) {
  const auto after = std::upper_bound(
      links.begin(), links.end(), step,
      [](std::uint64_t wanted, const cause_link& each) { return wanted < each.step; });
  if (after == links.begin()) return std::nullopt;
  return gsl::narrow<std::size_t>(after - links.begin() - 1);
}

} // namespace

std::vector<std::size_t> causal_chain(std::span<const cause_link> links, std::uint64_t from,
                                      std::size_t steps_max) {
  std::vector<std::size_t> chain;
  for (auto at = last_up_to(links, from); at && chain.size() < steps_max;) {
    const auto& link = links[*at];
    const bool goes_on = !chain.empty() && links[chain.back()].channel == link.channel;
    if (!goes_on) chain.push_back(*at);
    if (link.cause == 0) break;
    Expects(link.cause < link.step);
    at = last_up_to(links, link.cause);
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

} // namespace troupe
