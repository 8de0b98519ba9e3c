// Graphs built by hand: H7, and what a replay promises. Capture: capture_test.cpp.

#include <array>
#include <atomic>
#include <cstdint>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/graphs/graph_codes.hpp"
#include "tests/support/stage.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;

class graphs : public stage_test {
protected:
  executable_graph made(const graph& g) { return executable_graph::instantiate(ctx, g).value(); }

  std::vector<int> order;
  auto noting(int what) {
    return [this, what] { order.push_back(what); };
  }
};

/// A graph of `count` nodes without an edge.
graph wide_graph(std::size_t count) {
  graph g("wide");
  for (std::size_t i = 0; i < count; ++i) (void)g.add_kernel("leaf", [] {}).value();
  return g;
}

TEST_F(graphs, a_chain_runs_in_order_each_time_it_is_launched) {
  graph g("chain");
  node last;
  for (int i = 0; i < 5; ++i) {
    const node next = g.add_kernel("note", noting(i)).value();
    if (i > 0) {
      ASSERT_THAT(g.add_dependency(last, next), IsOk());
    }
    last = next;
  }
  const auto run = made(g);
  ASSERT_THAT(run.launch(s), IsOk());
  ASSERT_THAT(s.launch("after", noting(9)), IsOk());
  ASSERT_THAT(run.launch(s), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3, 4, 9, 0, 1, 2, 3, 4));
  EXPECT_EQ(run.replays(), 2U);
}

TEST_F(graphs, counters_tell_the_kernels_of_replays) {
  graph chain("chain");
  node last;
  for (int i = 0; i < 5; ++i) {
    const node next = chain.add_kernel("link", [] {}).value();
    if (i > 0) chain.add_dependency(last, next).or_throw();
    last = next;
  }
  graph long_one("long"); // so long that engines share it
  for (int i = 0; i < 100; ++i) {
    const auto work = [] {
      volatile int sum = 0;
      for (int k = 0; k < 20'000; ++k) sum = sum + k;
    };
    ASSERT_THAT(long_one.add_kernel("work", work), IsOk());
  }
  for (const auto& [run, nodes] : {std::pair{made(chain), 5U}, {made(wide_graph(300)), 300U},
                                   {made(long_one), 100U}}) {
    const auto before = dev.counters().compute.commands;
    for (int i = 0; i < 3; ++i) ASSERT_THAT(run.launch(s), IsOk());
    ASSERT_THAT(s.synchronize(), IsOk());
    EXPECT_EQ(dev.counters().compute.commands - before, 3 * nodes);
  }
}

TEST_F(graphs, kernels_copies_fills_and_callbacks_work_together) {
  auto x = ctx.allocate<int>(1000).value();
  auto host = rt.allocate_host<int>(1000).value();
  std::vector<int> seen(1000);
  std::iota(host.begin(), host.end(), 0);
  int called = 0;
  graph g("mixed");
  const auto fill = g.add_fill(x, 1).value();
  const auto up = g.add_copy(x, host).value();
  const auto twice = g.add_kernel({"twice", 4}, [](block b, std::span<int> v) {
                        for (auto i = std::size_t{b.index}; i < v.size(); i += b.count) v[i] *= 2;
                      }, x).value();
  const auto call = g.add_callback("call", [&called] { ++called; }).value();
  const auto down = g.add_copy(seen, x).value();
  ASSERT_THAT(g.add_dependency(fill, up), IsOk());
  ASSERT_THAT(g.add_dependency(up, twice), IsOk());
  ASSERT_THAT(g.add_dependency(twice, call), IsOk());
  ASSERT_THAT(g.add_dependency(call, down), IsOk());
  const auto run = made(g);
  for (int round = 1; round <= 3; ++round) {
    ASSERT_THAT(run.launch(s), IsOk());
    ASSERT_THAT(s.synchronize(), IsOk());
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(seen[static_cast<std::size_t>(i)], 2 * i);
    EXPECT_EQ(called, round);
    seen.assign(1000, -1);
  }
}

TEST_F(graphs, large_copies_are_whole_in_every_replay) {
  const auto count = std::size_t{1} << 20;
  auto x = ctx.allocate<std::uint32_t>(count).value();
  std::vector<std::uint32_t> from(count), to(count);
  graph g("copies");
  const auto up = g.add_copy(x, from).value();
  const auto down = g.add_copy(to, x).value();
  ASSERT_THAT(g.add_dependency(up, down), IsOk());
  const auto run = made(g);
  for (std::uint32_t round = 1; round <= 3; ++round) {
    from.assign(count, round);
    ASSERT_THAT(run.launch(s), IsOk());
    ASSERT_THAT(s.synchronize(), IsOk());
    ASSERT_EQ(to, from);
  }
}

TEST_F(graphs, replays_on_two_streams_follow_each_other) {
  auto other = ctx.create_stream().value();
  const auto go = rt.create_signal();
  graph g("count");
  int runs = 0;
  (void)g.add_kernel("count", [&runs] { ++runs; }).value();
  const auto run = made(g);
  ASSERT_THAT(s.wait(go), IsOk());
  ASSERT_THAT(run.launch(s), IsOk());
  ASSERT_THAT(run.launch(other), IsOk());
  EXPECT_THAT(other.synchronize(20ms), HasCode(code::stream_sync_timeout))
      << "it waits for the first replay, which waits for the signal";
  go.raise();
  ASSERT_THAT(other.synchronize(), IsOk());
  EXPECT_EQ(runs, 2);
}

TEST_F(graphs, a_failing_node_ends_its_replay_and_is_named) {
  graph g("job");
  const auto bad = g.add_kernel("explode", [] { throw std::runtime_error("boom"); }).value();
  const auto after = g.add_kernel("after", noting(1)).value();
  ASSERT_THAT(g.add_dependency(bad, after), IsOk());
  const auto run = made(g);
  ASSERT_THAT(run.launch(s), IsOk());
  ASSERT_THAT(s.launch("next", noting(2)), IsOk());
  EXPECT_THAT(s.synchronize(),
              AllOf(HasCode(code::kernel_exception), SaysThat("node 'explode' of graph 'job', replay 1"),
                    SaysThat("boom")));
  EXPECT_THAT(order, ElementsAre(2));
}

TEST_F(graphs, an_update_counts_from_the_next_launch_on) {
  auto x = ctx.allocate<int>(1, initial::cleared).value();
  auto y = ctx.allocate<int>(1, initial::cleared).value();
  graph g("add");
  const auto add =
      g.add_kernel("add", [](std::span<int> v, int by) { v[0] += by; }, x, 1).value();
  const auto run = made(g);
  const auto go = rt.create_signal();
  ASSERT_THAT(s.wait(go), IsOk());
  ASSERT_THAT(run.launch(s), IsOk());
  ASSERT_THAT(run.update(add, x, 10), IsOk()) << "while a replay waits";
  ASSERT_THAT(run.launch(s), IsOk());
  go.raise();
  ASSERT_THAT(s.synchronize(), IsOk());
  ASSERT_THAT(run.update(add, y, 7), IsOk()) << "while none does";
  ASSERT_THAT(run.launch(s), IsOk());
  std::array<int, 1> a{}, b{};
  ASSERT_THAT(s.copy(a, x), IsOk());
  ASSERT_THAT(s.copy(b, y), IsOk());
  EXPECT_EQ(a[0], 11);
  EXPECT_EQ(b[0], 7);
}

TEST_F(graphs, an_update_with_a_foreign_node_or_foreign_memory_changes_nothing) {
  auto x = ctx.allocate<int>(1, initial::cleared).value();
  auto foreign = dev.create_context().value();
  auto theirs = foreign.allocate<int>(1).value();
  const auto add = [](std::span<int> v, int by) { v[0] += by; };
  graph g("one"), h("two");
  const auto mine = g.add_kernel("add", add, x, 1).value();
  const auto other = h.add_kernel("add", add, x, 1).value();
  const auto run = made(g);
  EXPECT_THAT(run.update(other, x, 5), HasCode(code::invalid_parameter));
  EXPECT_THAT(run.update(mine, theirs, 5), HasCode(code::invalid_parameter));
  EXPECT_THAT(g.add_dependency(mine, other), HasCode(code::invalid_parameter));
  EXPECT_THAT(g.add_kernel("add", add, theirs, 1), HasCode(code::invalid_parameter));
  EXPECT_THAT(executable_graph::instantiate(foreign, g), HasCode(code::invalid_parameter));
  ASSERT_THAT(run.launch(s), IsOk());
  std::array<int, 1> a{};
  ASSERT_THAT(s.copy(a, x), IsOk());
  EXPECT_EQ(a[0], 1);
}

TEST_F(graphs, conditions_are_read_when_their_node_is_reached) {
  auto flag = ctx.allocate<std::uint32_t>(2, initial::cleared).value();
  const auto set = [](std::span<std::uint32_t> f, std::uint32_t at, std::uint32_t to) {
    f[at] = to;
  };
  graph body("body");
  (void)body.add_kernel("note", noting(1)).value();
  graph down("down");
  const auto step = [this](std::span<std::uint32_t> f) {
    order.push_back(2);
    --f[1];
  };
  (void)down.add_kernel("step", step, flag).value();
  graph g("flow");
  const auto skip = g.add_conditional("skipped", flag.data(), body).value();
  const auto first = g.add_kernel("set", set, flag, 0U, 1U).value();
  const auto second = g.add_kernel("set", set, flag, 1U, 3U).value();
  const auto when = g.add_conditional("when", flag.data(), body).value();
  const auto loop = g.add_loop("loop", flag.data() + 1, down).value();
  const auto repeat = g.add_repeat("again", 2, body).value();
  const auto never = g.add_repeat("never", 0, body).value();
  const auto unset = g.add_kernel("set", set, flag, 0U, 0U).value();
  const std::array<node, 8> all{skip, first, second, when, loop, repeat, never, unset};
  for (std::size_t i = 1; i < all.size(); ++i) {
    ASSERT_THAT(g.add_dependency(all[i - 1], all[i]), IsOk());
  }
  const auto run = made(g);
  ASSERT_THAT(run.launch(s), IsOk());
  ASSERT_THAT(run.launch(s), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_THAT(order, ElementsAre(1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 1, 1));
}

TEST_F(graphs, a_callback_in_a_repeated_sub_graph_is_called_each_time) {
  graph body("body");
  const auto before = body.add_kernel("before", noting(1)).value();
  const auto call = body.add_callback("call", noting(2)).value();
  ASSERT_THAT(body.add_dependency(before, call), IsOk());
  graph g("outer");
  (void)g.add_repeat("twice", 2, body).value();
  const auto run = made(g);
  ASSERT_THAT(run.launch(s), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_THAT(order, ElementsAre(1, 2, 1, 2));
}

TEST_F(graphs, random_wide_graphs_honour_every_edge_however_many_engines_help) {
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    std::mt19937 random(seed);
    constexpr std::size_t count = 120;
    std::vector<std::atomic<int>> ended(count);
    std::atomic<int> early = 0;
    std::vector<std::vector<std::size_t>> after(count);
    graph g("random");
    std::vector<node> nodes;
    for (std::size_t i = 0; i < count; ++i) {
      for (int edges = static_cast<int>(random() % 3); i > 0 && edges > 0; --edges) {
        after[i].push_back(random() % i);
      }
      const auto run = [&ended, &early, i, before = &after[i]] {
        volatile int work = 0;
        for (int turn = 0; turn < 2000; ++turn) work = work + turn;
        for (const auto each : *before) early += ended[each] == ended[i] + 1 ? 0 : 1;
        ++ended[i];
      };
      nodes.push_back(g.add_kernel("node", run).value());
      for (const auto each : after[i]) {
        ASSERT_THAT(g.add_dependency(nodes[each], nodes[i]), IsOk());
      }
    }
    const auto run = made(g);
    for (int round = 0; round < 3; ++round) ASSERT_THAT(run.launch(s), IsOk());
    ASSERT_THAT(s.synchronize(), IsOk());
    EXPECT_EQ(early, 0) << "seed " << seed;
    for (const auto& each : ended) ASSERT_EQ(each, 3) << "seed " << seed;
  }
}

TEST_F(graphs, a_failure_in_a_wide_graph_is_named_and_the_next_replay_runs) {
  std::atomic<int> fail_in = 2;
  graph g("wide");
  for (int i = 0; i < 50; ++i) (void)g.add_kernel("leaf", [] {}).value();
  (void)g.add_kernel("odd one", [&fail_in] {
     if (--fail_in == 0) throw std::runtime_error("now");
   }).value();
  const auto run = made(g);
  ASSERT_THAT(run.launch(s), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  ASSERT_THAT(run.launch(s), IsOk());
  EXPECT_THAT(s.synchronize(), SaysThat("node 'odd one' of graph 'wide', replay 2"));
  ASSERT_THAT(run.launch(s), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(graphs, H7_streams_that_graphs_hold_count_and_are_given_back) {
  auto options = test_options(1);
  options.devices[0].stream_limit = 8;
  auto own = make_runtime(options);
  auto place = own.device(0).value().create_context().value();
  // One is the context's default stream, one is ours.
  auto one = executable_graph::instantiate(place, wide_graph(3)).value();
  auto two = executable_graph::instantiate(place, wide_graph(3)).value();
  EXPECT_THAT(executable_graph::instantiate(place, wide_graph(3)),
              AllOf(HasCode(code::resource_shortage), SaysThat("executable graphs")));
  ASSERT_THAT(one.destroy(), IsOk());
  EXPECT_THAT(executable_graph::instantiate(place, wide_graph(3)), IsOk());
  EXPECT_THAT(one.destroy(), HasCode(code::invalid_handle));
  EXPECT_THAT(one.launch(place.create_stream().value()), HasCode(code::invalid_handle));
}

TEST_F(graphs, H7_memory_that_was_freed_is_reported_on_replay) {
  auto x = ctx.allocate<int>(16).value();
  graph g("freed");
  (void)g.add_kernel("touch", [](std::span<int> v) { v[0] = 1; }, x).value();
  const auto run = made(g);
  ASSERT_THAT(run.launch(s), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  ASSERT_THAT(x.free(), IsOk());
  EXPECT_THAT(run.launch(s), AllOf(HasCode(code::invalid_parameter), SaysThat("node 'touch'")));
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(graphs, H7_a_graph_that_runs_is_not_destroyed) {
  const auto run = made(wide_graph(2));
  const auto go = rt.create_signal();
  ASSERT_THAT(s.wait(go), IsOk());
  ASSERT_THAT(run.launch(s), IsOk());
  EXPECT_THAT(run.destroy(), HasCode(graph_codes::model_running));
  go.raise();
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_THAT(run.destroy(), IsOk());
}

TEST_F(graphs, an_abort_ends_a_replay_and_the_graph_runs_again) {
  graph g("long");
  std::atomic<int> rounds = 0;
  graph body("body");
  (void)body.add_kernel("turn", [&rounds] { ++rounds; }).value();
  auto flag = ctx.allocate<std::uint32_t>(1).value();
  ASSERT_THAT(ctx.copy(flag, std::array<std::uint32_t, 1>{1}), IsOk());
  (void)g.add_loop("for ever", flag.data(), body).value();
  const auto run = made(g);
  ASSERT_THAT(run.launch(s), IsOk());
  await([&] { return rounds > 10; });
  ASSERT_THAT(s.abort(), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  await([&] { return run.destroy().ok(); });
}

} // namespace
} // namespace troupe
