#include "tests/bench/measure.hpp"
#include "tests/bench/peers/caf_actors.hpp"
#include "tests/bench/peers/kernel.hpp"
#include "tests/bench/peers/peers.hpp"

#include <caf/all.hpp>

#include <latch>
#include <memory>
#include <stdexcept>

namespace troupe::bench {

namespace {

/// An actor system as shipped, but for the policy, and its streams.
struct session {
  session(caf_policy policy, std::size_t streams_open)
    : config(policy), system(config) {
    add(streams_open);
  }

  void add(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      streams.push_back(system.spawn(caf_stream));
  }

  /// Waits until every stream has handled what was sent before. One fence each, all at once, as a
  /// request to one after the other would count the waiter's wake-ups instead of the launches.
  void sync() {
    auto reached = std::make_shared<std::latch>(gsl::narrow<std::ptrdiff_t>(streams.size()));
    for (auto& stream : streams)
      caf::anon_send(stream, caf_fence{reached});
    reached->wait();
  }

  caf_config config;
  caf::actor_system system;
  std::vector<caf::actor> streams;
};

repetition launches(caf_policy policy, const workload& w) {
  auto s = std::make_shared<session>(policy, w.streams);
  return [s, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0, stream = 0; i < w.count; ++i) {
        caf::anon_send(s->streams[stream], caf_work{nop_kernel});
        if (++stream == w.streams)
          stream = 0;
      }
      s->sync();
    });
  };
}

repetition launch_sync(caf_policy policy, const workload& w) {
  auto s = std::make_shared<session>(policy, 1);
  auto self = std::make_shared<caf::scoped_actor>(s->system);
  return [s, self, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i)
        (*self)
          ->request(s->streams[0], caf::infinite, caf_call{nop_kernel})
          .receive([](bool) {},
                   [](const caf::error&) { throw std::runtime_error("the actor has died"); });
    });
  };
}

repetition client_launches(caf_policy policy, const workload& w) {
  auto s = std::make_shared<session>(policy, w.clients);
  return [s, w] {
    return ns_each(w.count, [&] {
      on_clients(w.clients, [&](std::size_t client) {
        for (std::size_t i = 0; i < w.count / w.clients; ++i)
          caf::anon_send(s->streams[client], caf_work{nop_kernel});
      });
      s->sync();
    });
  };
}

repetition event_chain(caf_policy policy, const workload& w) {
  auto s = std::make_shared<session>(policy, 2);
  auto event = s->system.spawn(caf_event);
  auto generation = std::make_shared<std::uint64_t>(0);
  return [s, event, generation, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i) {
        ++*generation;
        caf::anon_send(s->streams[0], caf_work{nop_kernel});
        caf::anon_send(s->streams[0], caf_record{event, *generation});
        caf::anon_send(s->streams[1], caf_wait{event, *generation});
        caf::anon_send(s->streams[1], caf_work{nop_kernel});
      }
      s->sync();
    });
  };
}

repetition event_record(caf_policy policy, const workload& w) {
  auto s = std::make_shared<session>(policy, 1);
  auto event = s->system.spawn(caf_event);
  auto generation = std::make_shared<std::uint64_t>(0);
  return [s, event, generation, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i)
        caf::anon_send(s->streams[0], caf_record{event, ++*generation});
      s->sync();
    });
  };
}

repetition create_destroy(caf_policy policy, const workload& w) {
  auto s = std::make_shared<session>(policy, 0);
  return [s, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i)
        caf::anon_send_exit(s->system.spawn(caf_stream), caf::exit_reason::user_shutdown);
      s->system.registry().await_running_count_equal(0);
    });
  };
}

repetition idle(caf_policy policy, const workload& w) {
  auto s = std::make_shared<session>(policy, w.streams);
  return [s, w] {
    s->sync();
    return idle_cpu_percent(w.seconds);
  };
}

repetition bytes_per_stream(caf_policy policy, const workload& w) {
  auto s = std::make_shared<session>(policy, 1);
  auto memory = std::make_shared<growth>();
  return [s, memory, w] {
    return memory->add(w.streams, [&] {
      s->add(w.streams);
      s->sync();
    });
  };
}

repetition bytes_per_queued(caf_policy policy, const workload& w) {
  static gate closed;
  auto s = std::make_shared<session>(policy, 1);
  caf::anon_send(s->streams[0], caf_work{[](void*) { closed.block(); }});
  closed.wait_entered();
  auto memory = std::make_shared<growth>();
  return [s, memory, w] {
    return memory->add(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i)
        caf::anon_send(s->streams[0], caf_work{nop_kernel});
    });
  };
}

}  // namespace

contender caf_peer(caf_policy policy) {
  auto with = [policy](repetition (*prepare)(caf_policy, const workload&)) -> setup {
    return [policy, prepare](const workload& w) { return prepare(policy, w); };
  };
  return {policy == caf_policy::stealing ? "caf_stealing" : "caf_sharing",
          {{"launch_throughput", with(launches)},
           {"launch_sync", with(launch_sync)},
           {"event_chain", with(event_chain)},
           {"event_record", with(event_record)},
           {"stream_create_destroy", with(create_destroy)},
           {"streams_1", with(launches)},
           {"streams_100", with(launches)},
           {"streams_10000", with(launches)},
           {"clients_1", with(client_launches)},
           {"clients_4", with(client_launches)},
           {"idle_cpu", with(idle)},
           {"bytes_per_stream", with(bytes_per_stream)},
           {"bytes_per_queued_command", with(bytes_per_queued)}}};
}

}  // namespace troupe::bench
