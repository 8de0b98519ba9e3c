// Memory that only a graph's nodes use (H7): planned by lifetime, never shared while in use.

#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "tests/support/stage.hpp"

namespace troupe {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;

constexpr std::size_t words = 64;

void mix(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b,
         std::span<std::uint32_t> to, std::uint32_t salt) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = a[i] * 31U + b[i] * 17U + salt;
}

void start(std::span<std::uint32_t> to, std::uint32_t salt) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] = salt * 2654435761U + static_cast<std::uint32_t>(i);
  }
}

class graph_memory : public stage_test {
protected:
  executable_graph made(const graph& g) { return executable_graph::instantiate(ctx, g).value(); }
  [[nodiscard]] std::uint64_t used_bytes() { return rt.device(0).value().memory().value().used; }
};

TEST_F(graph_memory, H7_a_chain_needs_two_buffers_however_long_it_is) {
  constexpr std::uint32_t length = 20;
  graph g("chain");
  auto out = ctx.allocate<std::uint32_t>(words).value();
  auto last = g.allocate<std::uint32_t>(words).value();
  node before = g.add_fill(last, 0).value();
  for (std::uint32_t i = 0; i < length; ++i) {
    const auto next = g.allocate<std::uint32_t>(words).value();
    const node step = g.add_kernel(
                           "add",
                           [](std::span<const std::uint32_t> a, std::span<std::uint32_t> b) {
                             for (std::size_t k = 0; k < b.size(); ++k) b[k] = a[k] + 1;
                           },
                           last, next)
                          .value();
    ASSERT_THAT(g.add_dependency(before, step), IsOk());
    before = step;
    last = next;
  }
  const node down = g.add_copy(out, last).value();
  ASSERT_THAT(g.add_dependency(before, down), IsOk());
  const auto plan = g.plan_private_memory().value();
  EXPECT_EQ(plan.peak_bytes, 2 * words * 4);
  EXPECT_EQ(plan.total_bytes, (length + 1) * words * 4);
  const auto run = made(g);
  EXPECT_EQ(run.private_bytes(), plan.peak_bytes);
  std::vector<std::uint32_t> host(words);
  for (int round = 0; round < 3; ++round) {
    ASSERT_THAT(run.launch(s), IsOk());
    ASSERT_THAT(s.copy(host, out), IsOk());
    ASSERT_THAT(s.synchronize(), IsOk());
    EXPECT_THAT(host, Each(length));
  }
}

TEST_F(graph_memory, H7_reuse_is_never_wrong_in_random_graphs) {
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    std::minstd_rand draw(seed + 1);
    constexpr std::uint32_t count = 40;
    graph g("random");
    auto sum = ctx.allocate<std::uint32_t>(words, initial::cleared).value();
    std::vector<graph_buffer<std::uint32_t>> buffers;
    std::vector<node> nodes;
    std::vector<std::vector<std::uint32_t>> expected; // by the same steps on the host
    for (std::uint32_t i = 0; i < count; ++i) {
      buffers.push_back(g.allocate<std::uint32_t>(words).value());
      expected.emplace_back(words);
      if (i < 3) {
        nodes.push_back(g.add_kernel("start", start, buffers[i], i).value());
        start(expected[i], i);
        continue;
      }
      const auto window = std::min<std::uint32_t>(i, 6);
      const auto a = i - 1 - static_cast<std::uint32_t>(draw()) % window;
      const auto b = i - 1 - static_cast<std::uint32_t>(draw()) % window;
      nodes.push_back(g.add_kernel("mix", mix, buffers[a], buffers[b], buffers[i], i).value());
      mix(expected[a], expected[b], expected[i], i);
      ASSERT_THAT(g.add_dependency(nodes[a], nodes[i]), IsOk());
      ASSERT_THAT(g.add_dependency(nodes[b], nodes[i]), IsOk());
    }
    const node last = g.add_copy(sum, buffers.back()).value();
    ASSERT_THAT(g.add_dependency(nodes.back(), last), IsOk());
    const auto plan = g.plan_private_memory().value();
    EXPECT_LT(plan.peak_bytes, plan.total_bytes);
    const auto run = made(g);
    std::vector<std::uint32_t> host(words);
    for (int round = 0; round < 2; ++round) {
      ASSERT_THAT(run.launch(s), IsOk());
      ASSERT_THAT(s.copy(host, sum), IsOk());
      ASSERT_THAT(s.synchronize(), IsOk());
      EXPECT_EQ(host, expected.back()) << "seed " << seed;
    }
  }
}

TEST_F(graph_memory, a_sub_graph_has_its_own_and_its_place_in_the_block) {
  graph body("body");
  const auto inner = body.allocate<std::uint32_t>(words).value();
  auto out = ctx.allocate<std::uint32_t>(words, initial::cleared).value();
  const node first = body.add_fill(inner, 1).value();
  const node second = body.add_kernel("add",
                                      [](std::span<const std::uint32_t> a,
                                         std::span<std::uint32_t> to) {
                                        for (std::size_t i = 0; i < to.size(); ++i) to[i] += a[i];
                                      },
                                      inner, out)
                          .value();
  ASSERT_THAT(body.add_dependency(first, second), IsOk());
  graph g("outer");
  const auto own = g.allocate<std::uint32_t>(words).value();
  const node before = g.add_fill(own, 2).value();
  const node three = g.add_repeat("three", 3, body).value();
  const node after = g.add_kernel("add",
                                  [](std::span<const std::uint32_t> a,
                                     std::span<std::uint32_t> to) {
                                    for (std::size_t i = 0; i < to.size(); ++i) to[i] += a[i];
                                  },
                                  own, out)
                         .value();
  ASSERT_THAT(g.add_dependency(before, three), IsOk());
  ASSERT_THAT(g.add_dependency(three, after), IsOk());
  const auto run = made(g);
  EXPECT_EQ(run.private_bytes(), 2 * words * 4); // `own` lives across the sub-graph
  ASSERT_THAT(run.launch(s), IsOk());
  std::vector<std::uint32_t> host(words);
  ASSERT_THAT(s.copy(host, out), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_THAT(host, Each(3 * 0x01010101U + 0x02020202U));
}

TEST_F(graph_memory, a_free_node_must_come_after_all_users) {
  graph g("freed");
  const auto x = g.allocate<std::uint32_t>(words).value();
  const node first = g.add_fill(x, 1).value();
  const node freed = g.add_free(x).value();
  EXPECT_THAT(g.add_free(x), HasCode(code::invalid_parameter));
  EXPECT_THAT(executable_graph::instantiate(ctx, g),
              AllOf(HasCode(code::invalid_parameter), SaysThat("node 'fill'")));
  ASSERT_THAT(g.add_dependency(first, freed), IsOk());
  EXPECT_THAT(executable_graph::instantiate(ctx, g), IsOk());
}

TEST_F(graph_memory, private_memory_of_another_graph_and_of_nothing_is_refused) {
  graph g("one");
  graph other("other");
  const auto x = other.allocate<std::uint32_t>(words).value();
  EXPECT_THAT(g.add_fill(x, 1), AllOf(HasCode(code::invalid_parameter), SaysThat("'one'")));
  EXPECT_THAT(g.add_kernel("start", start, x, 1U), HasCode(code::invalid_parameter));
  EXPECT_THAT(g.add_free(x), HasCode(code::invalid_parameter));
  EXPECT_EQ(g.node_count(), 0U);
  EXPECT_THAT(g.allocate<int>(0), HasCode(code::bad_argument));
  EXPECT_THAT(g.allocate<int>(SIZE_MAX), HasCode(code::invalid_parameter));
}

TEST_F(graph_memory, an_update_may_name_what_the_node_named_and_nothing_else) {
  graph g("updated");
  const auto x = g.allocate<std::uint32_t>(words).value();
  const auto y = g.allocate<std::uint32_t>(words).value();
  auto out = ctx.allocate<std::uint32_t>(words).value();
  const auto first = g.add_kernel("start", start, x, 1U).value();
  const node down = g.add_copy(out, x).value();
  ASSERT_THAT(g.add_dependency(first, down), IsOk());
  (void)g.add_fill(y, 7).value();
  const auto run = made(g);
  EXPECT_THAT(run.update(first, y, 2U), HasCode(code::invalid_parameter));
  ASSERT_THAT(run.update(first, x, 2U), IsOk());
  ASSERT_THAT(run.launch(s), IsOk());
  std::vector<std::uint32_t> host(words);
  ASSERT_THAT(s.copy(host, out), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  std::vector<std::uint32_t> expected(words);
  start(expected, 2);
  EXPECT_EQ(host, expected);
}

TEST_F(graph_memory, two_executables_of_one_graph_do_not_share_memory_and_give_it_back) {
  graph g("twice");
  const auto x = g.allocate<std::uint32_t>(words).value();
  (void)g.add_fill(x, 1).value();
  const auto before = used_bytes();
  {
    const auto one = made(g);
    const auto two = made(g);
    EXPECT_GE(used_bytes(), before + 2 * words * 4);
    ASSERT_THAT(one.launch(s), IsOk());
    ASSERT_THAT(two.launch(s), IsOk());
  }
  ASSERT_THAT(s.synchronize(), IsOk());
  await([&] { return used_bytes() == before; });
}

} // namespace
} // namespace troupe
