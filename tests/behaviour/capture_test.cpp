// Graph capture: H1, H2, H4, H5 and decisions 5, 7, 15.

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/graphs/graph_codes.hpp"
#include "tests/support/stage.hpp"

namespace troupe {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Not;

constexpr std::array modes{capturing::mode::global, capturing::mode::thread_bound,
                           capturing::mode::relaxed};

class capture_rules : public stage_test {
protected:
  stream other = ctx.create_stream().value();
  event mark = ctx.create_event().value();

  /// The capture of `s` still makes a graph of `nodes` nodes.
  void expect_unspoiled(std::size_t nodes) {
    const auto g = capturing::end(s);
    ASSERT_THAT(g, IsOk());
    EXPECT_EQ(g.value().node_count(), nodes);
    EXPECT_THAT(s.synchronize(), IsOk()) << "it works eagerly again";
  }
};

TEST_F(capture_rules, what_is_submitted_becomes_a_graph_and_runs_when_that_is_launched) {
  auto x = ctx.allocate<int>(4, initial::cleared).value();
  auto host = rt.allocate_host<int>(4).value();
  const auto add = [](std::span<int> v, int by) {
    for (auto& each : v) each += by;
  };
  host[0] = -1;
  ASSERT_THAT(capturing::begin(s), IsOk());
  ASSERT_THAT(s.fill_bytes(x, 0), IsOk());
  ASSERT_THAT(s.launch("add", add, x, 3), IsOk());
  ASSERT_THAT(s.record(mark), IsOk());
  ASSERT_THAT(other.wait(mark), IsOk());
  ASSERT_THAT(other.launch("add", add, x, 4), IsOk());
  ASSERT_THAT(other.record(mark), IsOk());
  ASSERT_THAT(s.wait(mark), IsOk());
  ASSERT_THAT(s.copy(host, x), IsOk());
  EXPECT_EQ(capturing::look(other).value().nodes, 4U);
  EXPECT_FALSE(capturing::look(other).value().origin);
  const auto g = capturing::end(s).value();
  EXPECT_FALSE(capturing::look(s).value().active);
  EXPECT_EQ(g.node_count(), 4U);
  EXPECT_EQ(g.edge_count(), 3U);
  EXPECT_EQ(host[0], -1) << "nothing has run";
  const auto run = executable_graph::instantiate(ctx, g).value();
  for (int round = 0; round < 2; ++round) {
    ASSERT_THAT(run.launch(other), IsOk());
    ASSERT_THAT(other.synchronize(), IsOk());
    EXPECT_EQ(host[3], 7);
  }
}

TEST_F(capture_rules, copies_of_every_form_become_nodes_that_start_anew_in_each_replay) {
  auto x = ctx.allocate<int>(8, initial::cleared).value();
  auto y = ctx.allocate<int>(8, initial::cleared).value();
  auto host = rt.allocate_host<int>(8).value();
  for (int i = 0; i < 8; ++i) host[static_cast<std::size_t>(i)] = i + 1;
  copy_2d_request rows;
  rows.target = x.data();
  rows.target_pitch = 8;
  rows.source = host.data();
  rows.source_pitch = 8;
  rows.width = 4;
  rows.height = 4;
  ASSERT_THAT(capturing::begin(s), IsOk());
  ASSERT_THAT(s.copy_2d(rows), IsOk());
  {
    const std::array each{copy_entry{y.data(), x.data(), 4}, copy_entry{y.data() + 4, x.data(), 16}};
    copy_batch_request batch;
    batch.entries = each;
    ASSERT_THAT(s.copy_batch(batch), IsOk());
  } // the entries are the graph's by now
  EXPECT_THAT(ctx.copy_2d(rows), HasCode(graph_codes::capture_mode));
  const auto run = executable_graph::instantiate(ctx, capturing::end(s).value()).value();
  for (int round = 0; round < 3; ++round) {
    ASSERT_THAT(s.fill_bytes(x, 0), IsOk());
    ASSERT_THAT(s.fill_bytes(y, 0), IsOk());
    ASSERT_THAT(run.launch(s), IsOk());
    ASSERT_THAT(s.synchronize(), IsOk());
    EXPECT_THAT(std::vector<int>(x.data(), x.data() + 8), ElementsAre(1, 0, 3, 0, 5, 0, 7, 0));
    EXPECT_THAT(std::vector<int>(y.data(), y.data() + 8), ElementsAre(1, 0, 0, 0, 1, 0, 3, 0));
  }
}

TEST_F(capture_rules, H1_refused_calls_have_their_codes_and_spoil_nothing) {
  auto x = ctx.allocate<int>(4).value();
  std::vector<int> ordinary(4);
  for (const auto how : modes) {
    ASSERT_THAT(capturing::begin(s, how), IsOk());
    ASSERT_THAT(s.launch("one", [] {}), IsOk());
    ASSERT_THAT(s.record(mark), IsOk());
    EXPECT_THAT(s.synchronize(), HasCode(graph_codes::stream_captured));
    EXPECT_THAT(s.query(), HasCode(graph_codes::stream_captured));
    EXPECT_THAT(s.abort(), HasCode(graph_codes::stream_captured));
    EXPECT_THAT(s.destroy(), HasCode(graph_codes::stream_captured));
    EXPECT_THAT(mark.query(), HasCode(graph_codes::event_captured));
    EXPECT_THAT(mark.synchronize(), HasCode(graph_codes::event_captured));
    EXPECT_THAT(ctx.synchronize(), HasCode(graph_codes::stream_captured));
    EXPECT_THAT(s.copy(x, ordinary), HasCode(graph_codes::capture_would_block));
    if (how == capturing::mode::relaxed) {
      EXPECT_THAT(ctx.copy(x, ordinary), IsOk());
    } else {
      EXPECT_THAT(ctx.copy(x, ordinary), HasCode(graph_codes::capture_mode));
    }
    EXPECT_THAT(other.synchronize(), IsOk()) << "a stream that does not capture";
    expect_unspoiled(1);
  }
  EXPECT_THAT(mark.query(), IsOk());
  EXPECT_THAT(ctx.copy(x, ordinary), IsOk());
}

TEST_F(capture_rules, H2_another_threads_copies_are_refused_by_global_mode_only) {
  auto x = ctx.allocate<int>(4).value();
  const std::vector<int> ordinary(4);
  for (const auto how : modes) {
    ASSERT_THAT(capturing::begin(s, how), IsOk());
    int refused = 0, refused_bound = 0;
    test_thread uploads([&] {
      for (int i = 0; i < 100; ++i) refused += ctx.copy(x, ordinary).ok() ? 0 : 1;
      EXPECT_EQ(capturing::exchange_mode(capturing::mode::thread_bound), capturing::mode::global);
      for (int i = 0; i < 100; ++i) refused_bound += ctx.copy(x, ordinary).ok() ? 0 : 1;
      EXPECT_EQ(capturing::exchange_mode(capturing::mode::global),
                capturing::mode::thread_bound);
    });
    for (int i = 0; i < 100; ++i) ASSERT_THAT(s.launch("task", [] {}), IsOk());
    uploads.join();
    EXPECT_EQ(refused, how == capturing::mode::global ? 100 : 0);
    EXPECT_EQ(refused_bound, 0);
    expect_unspoiled(100);
  }
}

TEST_F(capture_rules, H4_streams_that_were_not_joined_are_named_and_work_eagerly_again) {
  auto third = ctx.create_stream().value();
  ASSERT_THAT(capturing::begin(s), IsOk());
  ASSERT_THAT(s.launch("fork", [] {}), IsOk());
  ASSERT_THAT(s.record(mark), IsOk());
  ASSERT_THAT(other.wait(mark), IsOk());
  ASSERT_THAT(third.wait(mark), IsOk());
  ASSERT_THAT(other.launch("left", [] {}), IsOk());
  ASSERT_THAT(third.launch("right", [] {}), IsOk());
  ASSERT_THAT(other.record(mark), IsOk());
  ASSERT_THAT(s.wait(mark), IsOk());
  EXPECT_THAT(capturing::end(s), AllOf(HasCode(graph_codes::stream_unjoined),
                                       SaysThat("stream " + std::to_string(third.id())),
                                       Not(SaysThat("stream " + std::to_string(other.id())))));
  bool ran = false;
  ASSERT_THAT(third.launch("eager", [&ran] { ran = true; }), IsOk());
  ASSERT_THAT(third.synchronize(), IsOk());
  EXPECT_TRUE(ran);
}

TEST_F(capture_rules, H5_wrong_ends_and_foreign_work_are_refused_and_the_capture_survives) {
  const auto plain = ctx.default_stream().value();
  auto outside = ctx.create_event().value();
  auto rival = ctx.create_stream().value();
  auto rivals = ctx.create_event().value();
  EXPECT_THAT(capturing::end(s), HasCode(graph_codes::stream_not_captured));
  EXPECT_THAT(capturing::begin(plain), HasCode(code::not_supported));
  ASSERT_THAT(rival.record(outside), IsOk());
  ASSERT_THAT(capturing::begin(s), IsOk());
  ASSERT_THAT(capturing::begin(rival), IsOk());
  EXPECT_THAT(capturing::begin(s), HasCode(graph_codes::stream_captured));
  ASSERT_THAT(s.launch("fork", [] {}), IsOk());
  ASSERT_THAT(s.record(mark), IsOk());
  ASSERT_THAT(rival.record(rivals), IsOk());
  ASSERT_THAT(other.wait(mark), IsOk());
  EXPECT_THAT(capturing::end(other), HasCode(graph_codes::capture_unmatched));
  EXPECT_THAT(s.wait(outside), HasCode(graph_codes::capture_dependency));
  EXPECT_THAT(s.wait(rt.create_signal()), HasCode(graph_codes::capture_dependency));
  EXPECT_THAT(s.wait(rivals), HasCode(graph_codes::capture_conflict));
  EXPECT_THAT(plain.query(), HasCode(graph_codes::capture_implicit));
  auto to_default = plain;
  EXPECT_THAT(to_default.launch("x", [] {}), HasCode(graph_codes::capture_implicit));
  EXPECT_THAT(to_default.wait(mark), HasCode(graph_codes::capture_implicit));
  test_thread wrong(
      [&] { EXPECT_THAT(capturing::end(s), HasCode(graph_codes::capture_wrong_thread)); });
  wrong.join();
  EXPECT_THAT(capturing::end(rival), IsOk());
  expect_unspoiled(1);
}

TEST_F(capture_rules, H5_a_relaxed_capture_may_end_on_another_thread) {
  ASSERT_THAT(capturing::begin(s, capturing::mode::relaxed), IsOk());
  test_thread elsewhere([&] { EXPECT_THAT(capturing::end(s), IsOk()); });
  elsewhere.join();
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(capture_rules, J1_a_capture_at_the_limit_of_streams_is_refused) {
  auto options = test_options(1);
  options.devices[0].stream_limit = 3;
  auto own = make_runtime(options);
  auto place = own.device(0).value().create_context().value();
  auto mine = place.create_stream().value();
  auto rest = place.create_stream().value();
  EXPECT_THAT(capturing::begin(mine), AllOf(HasCode(code::no_stream_resource), SaysThat("limit")));
  ASSERT_THAT(rest.destroy(), IsOk());
  ASSERT_THAT(capturing::begin(mine), IsOk());
  EXPECT_THAT(place.create_stream(), HasCode(code::resource_shortage));
  EXPECT_THAT(capturing::end(mine), IsOk());
  EXPECT_THAT(place.create_stream(), IsOk());
}

// -- equivalence ------------------------------------------------------------------

/// A random legal program over three streams and some cells: each step mixes two cells into one.
/// Streams are ordered by an event before each step that another stream's step may touch.
void random_program(std::uint32_t seed, context& ctx, std::vector<stream>& streams,
                    buffer<std::uint32_t>& cells) {
  std::mt19937 random(seed);
  const auto mix = [](std::span<std::uint32_t> v, std::uint32_t to, std::uint32_t a,
                      std::uint32_t b) { v[to] = v[a] * 31 + v[b] + to; };
  std::vector<event> marks;
  for (std::size_t i = 0; i < streams.size(); ++i) marks.push_back(ctx.create_event().value());
  ASSERT_THAT(streams[0].record(marks[0]), IsOk());
  for (std::size_t i = 1; i < streams.size(); ++i) {
    ASSERT_THAT(streams[i].wait(marks[0]), IsOk());
  }
  std::size_t before = 0;
  for (int step = 0; step < 30; ++step) {
    const auto at = random() % streams.size();
    if (at != before) {
      ASSERT_THAT(streams[before].record(marks[before]), IsOk());
      ASSERT_THAT(streams[at].wait(marks[before]), IsOk());
    }
    ASSERT_THAT(streams[at].launch("mix", mix, cells, random() % 8, random() % 8, random() % 8),
                IsOk());
    before = at;
  }
  for (std::size_t i = 1; i < streams.size(); ++i) {
    ASSERT_THAT(streams[i].record(marks[i]), IsOk());
    ASSERT_THAT(streams[0].wait(marks[i]), IsOk());
  }
}

TEST_F(capture_rules, random_programs_give_the_same_eagerly_and_captured) {
  std::vector<stream> streams{s, other, ctx.create_stream().value()};
  auto cells = ctx.allocate<std::uint32_t>(8, initial::cleared).value();
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    std::array<std::uint32_t, 8> eager{}, replayed{};
    ASSERT_THAT(s.fill_bytes(cells, 1), IsOk());
    random_program(seed, ctx, streams, cells);
    ASSERT_THAT(s.copy(eager, cells), IsOk());
    ASSERT_THAT(capturing::begin(s), IsOk());
    ASSERT_THAT(s.fill_bytes(cells, 1), IsOk());
    random_program(seed, ctx, streams, cells);
    const auto g = capturing::end(s);
    ASSERT_THAT(g, IsOk());
    const auto run = executable_graph::instantiate(ctx, g.value()).value();
    for (int round = 0; round < 2; ++round) {
      ASSERT_THAT(run.launch(other), IsOk());
      ASSERT_THAT(other.copy(replayed, cells), IsOk());
      EXPECT_EQ(replayed, eager) << "seed " << seed;
    }
  }
}

} // namespace
} // namespace troupe
