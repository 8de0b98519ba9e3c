// Faults of a plan find the nodes of a graph under stable names.

#include <string>

#include "tests/support/simulated.hpp"
#include "tests/support/status_matchers.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

graph chain_of_three(int& ran) {
  graph g("chain");
  node last;
  for (const char* name : {"first", "second", "third"}) {
    const node next = g.add_kernel(std::string_view(name), [&ran] { ++ran; }).value();
    if (last.graph != 0) g.add_dependency(last, next).or_throw();
    last = next;
  }
  return g;
}

TEST(graph_faults, a_fault_finds_one_node_of_one_replay_by_name) {
  testing::simulation_options options;
  auto entry = fault_at(fault_point::execute, fault_action::fail_at_execution());
  entry.pick.operation = "second";
  entry.pick.ordinal = 2; // the second time
  options.faults.emplace();
  options.faults->entries.push_back(entry);
  int ran = 0;
  status first, second;
  const auto seen = testing::simulate(options, [&](testing::stage& play) {
    auto ctx = make_context(play);
    auto s = ctx.create_stream().value();
    const auto run = executable_graph::instantiate(ctx, chain_of_three(ran)).value();
    run.launch(s).or_throw();
    first = s.synchronize();
    run.launch(s).or_throw();
    second = s.synchronize();
  });
  EXPECT_THAT(first, IsOk());
  EXPECT_THAT(second, SaysThat("node 'second' of graph 'chain', replay 2"));
  EXPECT_EQ(ran, 4) << "all of the first replay and one node of the second";
  (void)seen;
}

TEST(graph_faults, each_node_takes_its_modelled_time) {
  testing::simulation_options options;
  options.costs.kernels["first"] = 1'000'000;
  options.costs.kernels["second"] = 2'000'000;
  options.costs.kernels["third"] = 4'000'000;
  int ran = 0;
  std::chrono::nanoseconds took{};
  const auto seen = testing::simulate(options, [&](testing::stage& play) {
    auto ctx = make_context(play);
    auto s = ctx.create_stream().value();
    const auto run = executable_graph::instantiate(ctx, chain_of_three(ran)).value();
    const auto began = play.elapsed();
    run.launch(s).or_throw();
    s.synchronize().or_throw();
    took = play.elapsed() - began;
  });
  EXPECT_EQ(took, 7ms);
  EXPECT_EQ(ran, 3);
  (void)seen;
}

} // namespace
} // namespace troupe
