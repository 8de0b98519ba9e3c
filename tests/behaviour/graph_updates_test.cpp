// Updates of nodes within sub-graphs: H7, S10.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/support/stage.hpp"
#include "troupe/capture.hpp"

namespace troupe {
namespace {

void add_to(std::span<int> target, int what) { target[0] += what; }

template <class F>
kernel_node<F> node_at(std::uint64_t graph, std::uint32_t index, F function) {
  return kernel_node<F>{{graph, index}, function};
}

class graph_updates : public stage_test {
protected:
  executable_graph made(const graph& g) { return executable_graph::instantiate(ctx, g).value(); }

  buffer<int> number(int value = 0) {
    auto made = ctx.allocate<int>(1).value();
    set(made, value);
    return made;
  }
  void set(const buffer<int>& target, int value) {
    ctx.copy(target, std::vector<int>{value}).or_throw();
  }
  int read(const buffer<int>& from) {
    std::vector<int> value(1);
    ctx.copy(value, from).or_throw();
    return value[0];
  }
  void replay(const executable_graph& run) {
    ASSERT_THAT(run.launch(s), IsOk());
    ASSERT_THAT(s.synchronize(), IsOk());
  }

  buffer<int> x = number();
  buffer<int> y = number();
};

TEST_F(graph_updates, H7_a_node_of_a_repeated_graph_gets_other_arguments_and_addresses) {
  graph body("body");
  const auto add = body.add_kernel("add", &add_to, x, 1).value();
  graph g;
  const auto rounds = g.add_repeat("rounds", 5, body).value();
  const auto run = made(g);
  replay(run);
  EXPECT_EQ(read(x), 5);
  ASSERT_THAT(run.update(inside(rounds, add), x, 10), IsOk());
  replay(run);
  EXPECT_EQ(read(x), 55);
  ASSERT_THAT(run.update(inside(rounds, add), y, 2), IsOk());
  replay(run);
  EXPECT_EQ(read(x), 55);
  EXPECT_EQ(read(y), 10);
}

TEST_F(graph_updates, H7_each_holder_has_a_graph_of_its_own) {
  graph body("body");
  const auto add = body.add_kernel("add", &add_to, x, 1).value();
  graph g;
  const auto first = g.add_subgraph("first", body).value();
  const auto second = g.add_subgraph("second", body).value();
  ASSERT_THAT(g.add_dependency(first, second), IsOk());
  const auto run = made(g);
  ASSERT_THAT(run.update(inside(second, add), x, 100), IsOk());
  replay(run);
  EXPECT_EQ(read(x), 101);
  replay(made(g)); // what it was made of is as it was
  EXPECT_EQ(read(x), 103);
}

TEST_F(graph_updates, H7_reaches_through_conditions_loops_and_repeats) {
  const auto go = ctx.allocate<std::uint32_t>(1).value();
  ctx.copy(go, std::vector<std::uint32_t>{1}).or_throw();
  graph innermost("innermost");
  const auto add = innermost.add_kernel("add", &add_to, x, 1).value();
  graph middle("middle");
  const auto when = middle.add_conditional("when", go.data(), innermost).value();
  graph g;
  const auto rounds = g.add_repeat("rounds", 3, middle).value();
  const auto run = made(g);
  ASSERT_THAT(run.update(inside(rounds, inside(when, add)), x, 7), IsOk());
  replay(run);
  EXPECT_EQ(read(x), 21);
  ctx.copy(go, std::vector<std::uint32_t>{0}).or_throw();
  replay(run);
  EXPECT_EQ(read(x), 21);
}

TEST_F(graph_updates, H7_replays_launched_before_keep_what_they_had) {
  graph body("body");
  const auto add = body.add_kernel("add", &add_to, x, 1).value();
  graph g;
  const auto rounds = g.add_repeat("rounds", 2, body).value();
  const auto run = made(g);
  const auto door = rt.create_signal();
  ASSERT_THAT(s.wait(door), IsOk());
  ASSERT_THAT(run.launch(s), IsOk());
  ASSERT_THAT(run.update(inside(rounds, add), x, 50), IsOk()) << "while a replay waits";
  ASSERT_THAT(run.launch(s), IsOk());
  door.raise();
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(read(x), 2 + 100);
}

TEST_F(graph_updates, H7_a_copy_of_a_sub_graph_gets_other_addresses) {
  std::vector<int> first{3};
  std::vector<int> second{4};
  graph body("body");
  const auto copy = body.add_copy(x, first).value();
  graph g;
  const auto sub = g.add_subgraph("sub", body).value();
  const auto run = made(g);
  replay(run);
  EXPECT_EQ(read(x), 3);
  ASSERT_THAT(run.update_copy(inside(sub, copy), y, second), IsOk());
  set(x, 0);
  replay(run);
  EXPECT_EQ(read(x), 0);
  EXPECT_EQ(read(y), 4);
}

TEST_F(graph_updates, H7_private_memory_of_a_sub_graph_stays_where_it_lies) {
  const auto put = [](std::span<int> target, int what) { target[0] = what; };
  const auto take = [](std::span<const int> from, std::span<int> target) { target[0] += from[0]; };
  graph body("body");
  const auto own = body.allocate<int>(1).value();
  const auto write = body.add_kernel("put", put, own, 5).value();
  const auto fetch = body.add_kernel("take", take, own, x).value();
  ASSERT_THAT(body.add_dependency(write, fetch), IsOk());
  graph g;
  const auto outer = g.allocate<int>(64).value();
  const auto before = g.add_kernel("before", [](std::span<int> all) { all[0] = 9; }, outer).value();
  const auto rounds = g.add_repeat("rounds", 3, body).value();
  const auto after = g.add_kernel("after", take, outer, y).value();
  ASSERT_THAT(g.add_dependency(before, rounds), IsOk());
  ASSERT_THAT(g.add_dependency(rounds, after), IsOk());
  const auto run = made(g);
  ASSERT_THAT(run.update(inside(rounds, write), own, 6), IsOk());
  ASSERT_THAT(run.update(inside(rounds, fetch), own, x), IsOk());
  replay(run);
  EXPECT_EQ(read(x), 18);
  EXPECT_EQ(read(y), 9);
  EXPECT_THAT(run.update(inside(rounds, write), outer, 6),
              SaysThat("did not name private memory 0"));
  EXPECT_THAT(run.update(write, own, 6), HasCode(code::invalid_parameter));
}

TEST_F(graph_updates, H7_a_replay_captured_into_a_graph_can_be_reached) {
  graph part("part");
  const auto add = part.add_kernel("add", &add_to, x, 1).value();
  const auto part_run = made(part);
  ASSERT_THAT(capturing::begin(s), IsOk());
  ASSERT_THAT(part_run.launch(s), IsOk());
  const auto whole = capturing::end(s).value();
  const node held{whole.id(), 0};
  const auto run = made(whole);
  ASSERT_THAT(run.update(inside(held, add), x, 30), IsOk());
  replay(run);
  EXPECT_EQ(read(x), 30);
  replay(part_run);
  EXPECT_EQ(read(x), 31);
}

TEST_F(graph_updates, H7_a_wrong_way_changes_nothing_and_is_named) {
  graph body("body");
  const auto add = body.add_kernel("add", &add_to, x, 1).value();
  graph other("other");
  const auto foreign = other.add_kernel("add", &add_to, x, 1).value();
  const auto strange = other.add_kernel("strange", [](std::span<int>) {}, x).value();
  graph g;
  const auto sub = g.add_subgraph("sub", body).value();
  const auto leaf = g.add_kernel("leaf", &add_to, y, 0).value();
  const auto run = made(g);
  EXPECT_THAT(run.update(inside(sub, foreign), x, 9), SaysThat("'sub' of graph 'graph' holds another"));
  EXPECT_THAT(run.update(inside(leaf, add), x, 9), SaysThat("'leaf' of graph 'graph' holds no"));
  EXPECT_THAT(run.update(inside(foreign, add), x, 9), SaysThat("is of another graph"));
  EXPECT_THAT(run.update(inside(node{g.id(), 7}, add), x, 9), SaysThat("has no node 7"));
  EXPECT_THAT(run.update(inside(sub, node_at(body.id(), 5, &add_to)), x, 9),
              SaysThat("graph 'body' has no node 5"));
  EXPECT_THAT(run.update(inside(sub, node_at(body.id(), 0, strange.function)), x),
              SaysThat("has another signature"));
  auto gone = ctx.allocate<int>(1).value();
  const device_span<int> freed(gone.data(), 1, ctx.id());
  gone = {};
  EXPECT_THAT(run.update(inside(sub, add), freed, 9), HasCode(code::invalid_parameter));
  replay(run);
  EXPECT_EQ(read(x), 1);
}

} // namespace
} // namespace troupe
