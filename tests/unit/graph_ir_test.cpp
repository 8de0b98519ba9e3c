#include "core/graphs/graph_ir.hpp"

#include <string>
#include <vector>

#include "core/graphs/graph_export.hpp"
#include "core/graphs/graph_plan.hpp"
#include "core/kernel_closure.hpp"
#include "tests/support/status_matchers.hpp"

namespace troupe {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

graph_node work(const std::string& name) {
  graph_node made;
  made.name = name;
  made.kind = node_kind::work;
  made.work = std::make_shared<command>(make_kernel_command(task(std::string_view(name)), [] {}));
  return made;
}

graph_ir with_nodes(std::size_t count) {
  graph_ir made("g");
  for (std::size_t i = 0; i < count; ++i) (void)made.add(work("n" + std::to_string(i))).value();
  return made;
}

TEST(graph_ir, a_cycle_is_refused_with_its_nodes_in_order) {
  auto g = with_nodes(5);
  ASSERT_THAT(g.depend(0, 1), IsOk());
  ASSERT_THAT(g.depend(1, 2), IsOk());
  ASSERT_THAT(g.depend(2, 3), IsOk());
  ASSERT_THAT(g.depend(3, 4), IsOk());
  EXPECT_THAT(g.validate(), IsOk());
  ASSERT_THAT(g.depend(3, 1), IsOk());
  EXPECT_THAT(g.validate(), AllOf(HasCode(code::invalid_parameter),
                                  SaysThat("'n1' -> 'n2' -> 'n3' -> 'n1'")));
}

TEST(graph_ir, nodes_that_are_not_there_and_nodes_after_themselves_are_refused) {
  auto g = with_nodes(2);
  EXPECT_THAT(g.depend(0, 2), AllOf(HasCode(code::invalid_parameter), SaysThat("no node 2")));
  EXPECT_THAT(g.depend(1, 1), HasCode(code::invalid_parameter));
  EXPECT_EQ(g.edges(), 0U);
}

TEST(graph_ir, an_edge_named_twice_is_one) {
  auto g = with_nodes(2);
  ASSERT_THAT(g.depend(0, 1), IsOk());
  ASSERT_THAT(g.depend(0, 1), IsOk());
  EXPECT_EQ(g.edges(), 1U);
}

TEST(graph_ir, chains_are_kept_together_in_the_order) {
  auto g = with_nodes(6); // two chains: 0 2 4 and 1 3 5
  for (const auto& [a, b] : {std::pair{0U, 2U}, {2U, 4U}, {1U, 3U}, {3U, 5U}}) {
    ASSERT_THAT(g.depend(a, b), IsOk());
  }
  EXPECT_THAT(g.topological_order(), ElementsAre(0, 2, 4, 1, 3, 5));
  const graph_plan plan(g);
  ASSERT_EQ(plan.segments().size(), 2U);
  EXPECT_EQ(plan.segments()[0].end, 3U);
  EXPECT_EQ(plan.width(), 2U);
}

TEST(graph_plan, a_diamond_has_counters_only_where_it_joins) {
  auto g = with_nodes(4);
  for (const auto& [a, b] : {std::pair{0U, 1U}, {0U, 2U}, {1U, 3U}, {2U, 3U}}) {
    ASSERT_THAT(g.depend(a, b), IsOk());
  }
  const graph_plan plan(g);
  ASSERT_EQ(plan.segments().size(), 4U);
  EXPECT_EQ(plan.segments()[0].needs, 0U);
  EXPECT_EQ(plan.segments()[1].needs, 1U);
  EXPECT_EQ(plan.segments()[3].needs, 2U);
  EXPECT_EQ(plan.width(), 2U);
}

TEST(graph_plan, a_chain_is_one_segment) {
  auto g = with_nodes(100);
  for (std::uint32_t i = 1; i < 100; ++i) ASSERT_THAT(g.depend(i - 1, i), IsOk());
  const graph_plan plan(g);
  EXPECT_EQ(plan.segments().size(), 1U);
  EXPECT_EQ(plan.width(), 1U);
}

TEST(graph_ir, work_of_another_type_is_not_put_into_a_node) {
  auto g = with_nodes(1);
  const auto other = std::make_shared<command>(
      make_kernel_command("other", [](int) {}, 1));
  EXPECT_THAT(g.replace_work(0, other),
              AllOf(HasCode(code::invalid_parameter), SaysThat("another signature")));
}

TEST(graph_ir, sub_graphs_deeper_than_the_limit_are_refused) {
  auto g = with_nodes(1);
  for (std::size_t depth = 1; depth < graph_ir::depth_max; ++depth) {
    graph_ir outer("outer");
    graph_node sub;
    sub.name = "sub";
    sub.kind = node_kind::inlined;
    sub.body = std::make_shared<graph_ir>(g);
    ASSERT_THAT(outer.add(sub), IsOk());
    g = outer;
  }
  graph_ir outer("outer");
  graph_node sub;
  sub.name = "sub";
  sub.kind = node_kind::inlined;
  sub.body = std::make_shared<graph_ir>(g);
  EXPECT_THAT(outer.add(sub), AllOf(HasCode(code::invalid_parameter), SaysThat("31")));
}

TEST(graph_export, shows_names_edges_costs_and_sub_graphs) {
  auto g = with_nodes(2);
  ASSERT_THAT(g.depend(0, 1), IsOk());
  g.describe(1, {"relu", {{"slope", "0"}}, {{"f32", {2, 3}, nullptr, true}}});
  graph_node sub;
  sub.name = "twice \"quoted\"";
  sub.kind = node_kind::repeat;
  sub.times = 2;
  sub.body = std::make_shared<graph_ir>(with_nodes(1));
  ASSERT_THAT(g.add(sub), IsOk());
  const auto cost = [](const graph_node& node) { return node.work ? 7 : -1; };
  EXPECT_THAT(to_dot(g, cost), AllOf(HasSubstr("n0 -> n1;"), HasSubstr("n1 (kernel) 7 ns"),
                                     HasSubstr("cluster_n2"), HasSubstr("\\\"quoted\\\"")));
  EXPECT_THAT(to_json(g, cost),
              AllOf(HasSubstr("\"cost_ns\": 7"), HasSubstr("\"relu\""), HasSubstr("\"times\": 2")));
}

} // namespace
} // namespace troupe
