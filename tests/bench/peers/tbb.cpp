#include "tests/bench/measure.hpp"
#include "tests/bench/peers/kernel.hpp"
#include "tests/bench/peers/peers.hpp"

#include <tbb/cache_aligned_allocator.h>
#include <tbb/flow_graph.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

namespace troupe::bench {

namespace {

namespace flow = tbb::flow;

/// A serial node with its queue: runs kernels one after the other, in order of arrival.
class node_stream {
public:
  explicit node_stream(flow::graph& g)
    : node_(g, flow::serial, [](kernel_fn kernel) {
        kernel(nullptr);
        return flow::continue_msg{};
      }) {}

  void launch() { node_.try_put(kernel_fn{nop_kernel}); }

  flow::function_node<kernel_fn>& node() { return node_; }

private:
  flow::function_node<kernel_fn> node_;
};

/// A graph and its streams.
struct session {
  explicit session(std::size_t streams_open) { add(streams_open); }

  void add(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      streams.push_back(std::make_unique<node_stream>(graph));
  }

  void sync() { graph.wait_for_all(); }

  flow::graph graph;
  std::vector<std::unique_ptr<node_stream>> streams;
};

repetition launches(const workload& w) {
  auto s = std::make_shared<session>(w.streams);
  return [s, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0, stream = 0; i < w.count; ++i) {
        s->streams[stream]->launch();
        if (++stream == w.streams)
          stream = 0;
      }
      s->sync();
    });
  };
}

repetition launch_sync(const workload& w) {
  auto s = std::make_shared<session>(1);
  return [s, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i) {
        s->streams[0]->launch();
        s->sync();
      }
    });
  };
}

repetition client_launches(const workload& w) {
  auto s = std::make_shared<session>(w.clients);
  return [s, w] {
    return ns_each(w.count, [&] {
      on_clients(w.clients, [&](std::size_t client) {
        for (std::size_t i = 0; i < w.count / w.clients; ++i)
          s->streams[client]->launch();
      });
      s->sync();
    });
  };
}

/// The edge between two nodes is the event: its message starts the second kernel after the first.
struct chain {
  flow::graph graph;
  flow::function_node<kernel_fn, kernel_fn> first{graph, flow::serial, [](kernel_fn kernel) {
                                                    kernel(nullptr);
                                                    return kernel;
                                                  }};
  node_stream second{graph};

  chain() { flow::make_edge(first, second.node()); }
};

repetition event_chain(const workload& w) {
  auto c = std::make_shared<chain>();
  return [c, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i)
        c->first.try_put(kernel_fn{nop_kernel});
      c->graph.wait_for_all();
    });
  };
}

/// 1,000 nodes of the library's own kind for dependencies, run again and again.
repetition graph_replays(const workload& w, bool chained) {
  constexpr std::size_t nodes = 1'000;
  using part = flow::continue_node<flow::continue_msg>;
  struct parts {
    flow::graph graph;
    flow::broadcast_node<flow::continue_msg> start{graph};
    std::vector<std::unique_ptr<part>> nodes;
  };
  auto s = std::make_shared<parts>();
  for (std::size_t i = 0; i < nodes; ++i) {
    s->nodes.push_back(std::make_unique<part>(s->graph, [](const flow::continue_msg&) {
      nop_kernel(nullptr);
      return flow::continue_msg{};
    }));
    if (chained && i > 0)
      flow::make_edge(*s->nodes[i - 1], *s->nodes[i]);
    else
      flow::make_edge(s->start, *s->nodes[i]);
  }
  const auto rounds = std::max<std::size_t>(1, w.count / nodes);
  return [s, rounds] {
    return ns_each(rounds * nodes, [&] {
      for (std::size_t round = 0; round < rounds; ++round) {
        s->start.try_put(flow::continue_msg{});
        s->graph.wait_for_all();
      }
    });
  };
}

repetition graph_chain(const workload& w) { return graph_replays(w, true); }

repetition graph_wide(const workload& w) { return graph_replays(w, false); }

repetition idle_sync(const workload& w) {
  auto s = std::make_shared<session>(1);
  return [s, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i)
        s->sync();
    });
  };
}

repetition create_destroy(const workload& w) {
  auto s = std::make_shared<session>(0);
  return [s, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i)
        node_stream one(s->graph);
    });
  };
}

repetition alloc_free(const workload& w) {
  return [w] {
    tbb::cache_aligned_allocator<std::byte> allocator;
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i)
        allocator.deallocate(allocator.allocate(w.bytes), w.bytes);
    });
  };
}

/// A task is a node, made behind the last one of its datum and triggered once all are there.
repetition dataflow_tasks(const workload& w) {
  using node = flow::continue_node<flow::continue_msg>;
  return [w] {
    return ns_each(w.count, [&] {
      flow::graph graph;
      std::deque<node> nodes;
      for (std::size_t i = 0; i < w.count; ++i) {
        nodes.emplace_back(graph, [](const flow::continue_msg&) { nop_kernel(nullptr); });
        if (i >= w.streams)
          flow::make_edge(nodes[i - w.streams], nodes[i]);
      }
      for (std::size_t i = 0; i < std::min(w.streams, w.count); ++i)
        nodes[i].try_put(flow::continue_msg{});
      graph.wait_for_all();
    });
  };
}

repetition idle(const workload& w) {
  auto s = std::make_shared<session>(w.streams);
  return [s, w] {
    for (auto& stream : s->streams)
      stream->launch();
    s->sync();
    return idle_cpu_percent(w.seconds);
  };
}

repetition bytes_per_stream(const workload& w) {
  auto s = std::make_shared<session>(1);
  auto memory = std::make_shared<growth>();
  return [s, memory, w] { return memory->add(w.streams, [&] { s->add(w.streams); }); };
}

repetition bytes_per_queued(const workload& w) {
  static gate closed;
  auto s = std::make_shared<session>(1);
  s->streams[0]->node().try_put([](void*) { closed.block(); });
  closed.wait_entered();
  auto memory = std::make_shared<growth>();
  return [s, memory, w] {
    return memory->add(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i)
        s->streams[0]->launch();
    });
  };
}

}  // namespace

contender tbb_peer() {
  return {"tbb",
          {{"launch_throughput", launches},
           {"launch_sync", launch_sync},
           {"event_chain", event_chain},
           {"graph_chain_1000", graph_chain},
           {"graph_wide_1000", graph_wide},
           {"idle_sync", idle_sync},
           {"stream_create_destroy", create_destroy},
           {"pool_alloc_free_1m", alloc_free},
           {"streams_1", launches},
           {"streams_100", launches},
           {"streams_10000", launches},
           {"clients_1", client_launches},
           {"clients_4", client_launches},
           {"dataflow_chain", dataflow_tasks},
           {"dataflow_wide", dataflow_tasks},
           {"idle_cpu", idle},
           {"bytes_per_stream", bytes_per_stream},
           {"bytes_per_queued_command", bytes_per_queued}}};
}

}  // namespace troupe::bench
