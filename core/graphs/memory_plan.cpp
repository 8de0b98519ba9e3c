#include "core/graphs/memory_plan.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include <gsl/gsl>

namespace troupe {
namespace {

// For each node the set of nodes before it, one bit each.
class ancestry {
public:
  explicit ancestry(const graph_ir& graph)
      : words_((graph.nodes().size() + 63) / 64), bits_(graph.nodes().size() * words_, 0) {
    for (const auto each : graph.topological_order()) {
      for (const auto earlier : graph.nodes()[each].after) {
        for (std::size_t i = 0; i < words_; ++i) {
          bits_[each * words_ + i] |= bits_[earlier * words_ + i];
        }
        bits_[each * words_ + earlier / 64] |= std::uint64_t{1} << (earlier % 64);
      }
    }
  }

  [[nodiscard]] bool before(std::uint32_t earlier, std::uint32_t later) const {
    return (bits_[later * words_ + earlier / 64] >> (earlier % 64) & 1) != 0;
  }

private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

bool all_before(const ancestry& order, const private_range& a, const private_range& b) {
  return std::all_of(a.users.begin(), a.users.end(), [&](auto earlier) {
    return std::all_of(b.users.begin(), b.users.end(),
                       [&](auto later) { return order.before(earlier, later); });
  });
}

status check(const graph_ir& graph, const std::vector<private_range>& ranges) {
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const auto& [bytes, users] = ranges[i];
    const bool known = std::all_of(users.begin(), users.end(),
                                   [&](auto each) { return each < graph.nodes().size(); });
    if (bytes != 0 && !users.empty() && known) continue;
    return make_status(code::invalid_parameter,
                       "private range " + std::to_string(i) + " of graph '" + graph.name() +
                           "' has " + std::to_string(bytes) + " bytes and " +
                           std::to_string(users.size()) + " users" +
                           (known ? "" : ", one of which is no node of it"));
  }
  return graph.validate();
}

} // namespace

result<memory_plan> plan_memory(const graph_ir& graph, const std::vector<private_range>& ranges,
                                std::uint64_t alignment) {
  Expects(alignment != 0 && (alignment & (alignment - 1)) == 0);
  if (auto s = check(graph, ranges); !s.ok()) return s;
  const ancestry order(graph);
  const auto rounded = [&](std::size_t i) {
    return (ranges[i].bytes + alignment - 1) & ~(alignment - 1);
  };
  std::vector<std::size_t> by_size(ranges.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](auto a, auto b) { return ranges[a].bytes > ranges[b].bytes; });
  memory_plan made;
  made.offsets.assign(ranges.size(), 0);
  std::vector<std::size_t> placed; // by offset
  for (const auto each : by_size) {
    std::uint64_t at = 0;
    for (const auto other : placed) {
      const bool apart = all_before(order, ranges[each], ranges[other]) ||
                         all_before(order, ranges[other], ranges[each]);
      if (apart || made.offsets[other] + rounded(other) <= at) continue;
      if (at + rounded(each) <= made.offsets[other]) break;
      at = made.offsets[other] + rounded(other);
    }
    made.offsets[each] = at;
    made.peak_bytes = std::max(made.peak_bytes, at + rounded(each));
    made.total_bytes += rounded(each);
    const auto place = std::upper_bound(placed.begin(), placed.end(), at, [&](auto o, auto other) {
      return o < made.offsets[other];
    });
    placed.insert(place, each);
  }
  return made;
}

} // namespace troupe
