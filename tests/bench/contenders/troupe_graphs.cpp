#include "tests/bench/contenders/troupe_rows.hpp"
#include "tests/bench/contenders/troupe_session.hpp"
#include "tests/bench/measure.hpp"

#include <algorithm>
#include <memory>

namespace troupe::bench::troupe_rows {

namespace {

constexpr std::size_t nodes = 1'000;

/// Rounds of `nodes` that make up the workload.
std::size_t rounds_of(const workload& w) { return std::max<std::size_t>(1, w.count / nodes); }

repetition replays(const workload& w, bool chain) {
  auto s = std::make_shared<troupe_session>(1);
  graph g("bench");
  for (std::uint32_t i = 0; i < nodes; ++i) {
    const node added = g.add_kernel("nothing", [] {}).value();
    if (chain && i > 0)
      g.add_dependency({g.id(), i - 1}, added).or_throw();
  }
  const auto run = executable_graph::instantiate(s->ctx, g).value();
  return [s, run, w] {
    return ns_each(rounds_of(w) * nodes, [&] {
      for (std::size_t round = 0; round < rounds_of(w); ++round) {
        run.launch(s->streams[0]).or_throw();
        s->sync_all();
      }
    });
  };
}

}  // namespace

repetition graph_chain(const workload& w) { return replays(w, true); }

repetition graph_wide(const workload& w) { return replays(w, false); }

repetition graph_eager(const workload& w) {
  auto s = std::make_shared<troupe_session>(1);
  return [s, w] {
    return ns_each(rounds_of(w) * nodes, [&] {
      for (std::size_t round = 0; round < rounds_of(w); ++round) {
        for (std::size_t i = 0; i < nodes; ++i)
          s->launch(0);
        s->sync_all();
      }
    });
  };
}

repetition capture_cost(const workload& w) {
  auto s = std::make_shared<troupe_session>(1);
  return [s, w] {
    return ns_each(rounds_of(w) * nodes, [&] {
      for (std::size_t round = 0; round < rounds_of(w); ++round) {
        capturing::begin(s->streams[0]).or_throw();
        for (std::size_t i = 0; i < nodes; ++i)
          s->launch(0);
        (void)capturing::end(s->streams[0]).value();
      }
    });
  };
}

}  // namespace troupe::bench::troupe_rows
