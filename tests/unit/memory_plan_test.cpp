#include "core/graphs/memory_plan.hpp"

#include <algorithm>
#include <random>
#include <string>

#include "tests/support/status_matchers.hpp"

namespace troupe {
namespace {

graph_ir empties(std::size_t count) {
  graph_ir made("g");
  for (std::size_t i = 0; i < count; ++i) {
    graph_node one;
    one.name = "n" + std::to_string(i);
    (void)made.add(one).value();
  }
  return made;
}

TEST(memory_plan, ranges_of_a_chain_share_memory_when_one_ends_before_the_other_begins) {
  auto g = empties(4);
  for (std::uint32_t i = 1; i < 4; ++i) ASSERT_THAT(g.depend(i - 1, i), IsOk());
  const auto made = plan_memory(g, {{128, {0, 1}}, {128, {1, 2}}, {128, {2, 3}}}).value();
  EXPECT_EQ(made.peak_bytes, 256U);
  EXPECT_EQ(made.total_bytes, 384U);
  EXPECT_EQ(made.offsets[0], made.offsets[2]);
  EXPECT_NE(made.offsets[0], made.offsets[1]);
}

TEST(memory_plan, branches_without_an_order_share_nothing) {
  const auto g = empties(2);
  EXPECT_EQ(plan_memory(g, {{64, {0}}, {64, {1}}}).value().peak_bytes, 128U);
}

TEST(memory_plan, bad_ranges_are_refused) {
  const auto g = empties(1);
  EXPECT_THAT(plan_memory(g, {{0, {0}}}), HasCode(code::invalid_parameter));
  EXPECT_THAT(plan_memory(g, {{1, {}}}), HasCode(code::invalid_parameter));
  EXPECT_THAT(plan_memory(g, {{1, {7}}}), HasCode(code::invalid_parameter));
}

/// Whether `later` can be reached from `earlier`, by looking.
bool comes_before(const graph_ir& g, std::uint32_t earlier, std::uint32_t later) {
  const auto& after = g.nodes()[later].after;
  return std::any_of(after.begin(), after.end(), [&](auto each) {
    return each == earlier || comes_before(g, earlier, each);
  });
}

TEST(memory_plan, reuse_is_never_wrong_in_random_graphs) {
  std::uint64_t saved = 0;
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    auto g = empties(14);
    for (std::uint32_t i = 1; i < 14; ++i) {
      for (auto edges = random() % 3; edges > 0; --edges) {
        ASSERT_THAT(g.depend(static_cast<std::uint32_t>(random()) % i, i), IsOk());
      }
    }
    std::vector<private_range> ranges(8);
    for (auto& each : ranges) {
      each.bytes = 1 + random() % 300;
      for (auto users = 1 + random() % 3; users > 0; --users) {
        each.users.push_back(static_cast<std::uint32_t>(random()) % 14);
      }
    }
    const auto made = plan_memory(g, ranges).value();
    saved += made.total_bytes - made.peak_bytes;
    for (std::size_t a = 0; a < ranges.size(); ++a) {
      EXPECT_EQ(made.offsets[a] % 64, 0U);
      EXPECT_LE(made.offsets[a] + ranges[a].bytes, made.peak_bytes);
      for (std::size_t b = a + 1; b < ranges.size(); ++b) {
        if (made.offsets[a] + ranges[a].bytes <= made.offsets[b] ||
            made.offsets[b] + ranges[b].bytes <= made.offsets[a]) {
          continue;
        }
        bool a_first = true, b_first = true;
        for (const auto u : ranges[a].users) {
          for (const auto v : ranges[b].users) {
            a_first = a_first && comes_before(g, u, v);
            b_first = b_first && comes_before(g, v, u);
          }
        }
        EXPECT_TRUE(a_first || b_first) << "seed " << seed << ", ranges " << a << " and " << b;
      }
    }
  }
  EXPECT_GT(saved, 0U);
}

} // namespace
} // namespace troupe
