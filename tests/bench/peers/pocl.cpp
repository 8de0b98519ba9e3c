#include "tests/bench/host_pages.hpp"
#include "tests/bench/measure.hpp"
#include "tests/bench/peers/allocation_trace.hpp"
#include "tests/bench/peers/opencl.hpp"
#include "tests/bench/peers/peers.hpp"

#include <memory>
#include <vector>

namespace troupe::bench {

namespace {

/// The device and its queues.
struct session {
  explicit session(std::size_t queues_open) { add(queues_open); }

  void add(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      queues.push_back(device.make_queue());
  }

  void sync(std::size_t queue) { cl_check(clFinish(queues[queue].get()), "clFinish"); }

  void sync_all() {
    // All begin before the first is waited for.
    for (auto& queue : queues)
      cl_check(clFlush(queue.get()), "clFlush");
    for (std::size_t queue = 0; queue < queues.size(); ++queue)
      sync(queue);
  }

  opencl_device device;
  std::vector<cl_owned_queue> queues;
};

/// A session with a buffer and host memory of the same size, all of it touched.
struct copy_session : session {
  explicit copy_session(std::size_t bytes)
    : session(1), buffer(device.make_buffer(bytes)), host(host_pages(bytes)) {
    write();
  }

  void write() {
    cl_check(clEnqueueWriteBuffer(queues[0].get(), buffer.get(), CL_TRUE, 0, host.size(),
                                  host.data(), 0, nullptr, nullptr),
             "clEnqueueWriteBuffer");
  }

  void read() {
    cl_check(clEnqueueReadBuffer(queues[0].get(), buffer.get(), CL_TRUE, 0, host.size(),
                                 host.data(), 0, nullptr, nullptr),
             "clEnqueueReadBuffer");
  }

  cl_owned_buffer buffer;
  gsl::span<std::byte> host;
};

repetition launches(const workload& w) {
  auto s = std::make_shared<session>(w.streams);
  return [s, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0, queue = 0; i < w.count; ++i) {
        s->device.launch(s->queues[queue]);
        if (++queue == w.streams)
          queue = 0;
      }
      s->sync_all();
    });
  };
}

repetition launch_sync(const workload& w) {
  auto s = std::make_shared<session>(1);
  return [s, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i) {
        s->device.launch(s->queues[0]);
        s->sync(0);
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
          s->device.launch(s->queues[client]);
      });
      s->sync_all();
    });
  };
}

repetition event_chain(const workload& w) {
  auto s = std::make_shared<session>(2);
  return [s, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i) {
        const auto recorded = s->device.launch_recorded(s->queues[0]);
        s->device.launch_after(s->queues[1], recorded);
      }
      s->sync_all();
    });
  };
}

repetition idle_sync(const workload& w) {
  auto s = std::make_shared<session>(1);
  return [s, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i)
        s->sync(0);
    });
  };
}

repetition event_record(const workload& w) {
  auto s = std::make_shared<session>(1);
  return [s, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i) {
        cl_event event = nullptr;
        cl_check(clEnqueueMarkerWithWaitList(s->queues[0].get(), 0, nullptr, &event),
                 "clEnqueueMarkerWithWaitList");
        const cl_owned_event owned(event);
      }
      s->sync_all();
    });
  };
}

repetition create_destroy(const workload& w) {
  auto s = std::make_shared<session>(0);
  return [s, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i)
        const auto queue = s->device.make_queue();
    });
  };
}

repetition alloc_free(const workload& w) {
  auto s = std::make_shared<session>(0);
  return [s, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i)
        const auto buffer = s->device.make_buffer(w.bytes);
    });
  };
}

/// Buffers are made by all threads in one context.
repetition pool_churn(const workload& w) {
  auto s = std::make_shared<session>(0);
  const auto sizes = std::make_shared<const std::vector<std::size_t>>(digits_allocations());
  return [s, sizes, w] {
    return ns_each(w.count, [&] {
      on_clients(w.clients, [&](std::size_t) {
        churn(*sizes, w.count / w.clients,
              [&](std::size_t bytes) { return s->device.make_buffer(bytes); });
      });
    });
  };
}

repetition alloc_cleared(const workload& w) {
  auto s = std::make_shared<session>(1);
  return [s, w] {
    const cl_uint zero = 0;
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i) {
        const auto buffer = s->device.make_buffer(w.bytes);
        cl_check(clEnqueueFillBuffer(s->queues[0].get(), buffer.get(), &zero, sizeof zero, 0,
                                     w.bytes, 0, nullptr, nullptr),
                 "clEnqueueFillBuffer");
        s->sync(0);
      }
    });
  };
}

repetition copy_h2d(const workload& w) {
  auto s = std::make_shared<copy_session>(w.bytes);
  return [s, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i)
        s->write();
    });
  };
}

repetition copy_d2h(const workload& w) {
  auto s = std::make_shared<copy_session>(w.bytes);
  return [s, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i)
        s->read();
    });
  };
}

repetition idle(const workload& w) {
  auto s = std::make_shared<session>(w.streams);
  return [s, w] {
    for (auto& queue : s->queues)
      s->device.launch(queue);
    s->sync_all();
    return idle_cpu_percent(w.seconds);
  };
}

repetition bytes_per_stream(const workload& w) {
  auto s = std::make_shared<session>(1);
  auto memory = std::make_shared<growth>();
  return [s, memory, w] { return memory->add(w.streams, [&] { s->add(w.streams); }); };
}

repetition bytes_per_queued(const workload& w) {
  auto s = std::make_shared<session>(1);
  std::shared_ptr<cl_owned_event> never(new cl_owned_event(s->device.make_user_event()));
  s->device.launch_after(s->queues[0], *never);
  auto memory = std::make_shared<growth>();
  return [s, never, memory, w] {
    return memory->add(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i)
        s->device.launch(s->queues[0]);
    });
  };
}

}  // namespace

contender pocl_peer() {
  return {"pocl",
          {{"launch_throughput", launches},
           {"launch_sync", launch_sync},
           {"event_chain", event_chain},
           {"idle_sync", idle_sync},
           {"event_record", event_record},
           {"stream_create_destroy", create_destroy},
           {"pool_alloc_free_1m", alloc_free},
           {"pool_churn", pool_churn},
           {"alloc_1m_cleared", alloc_cleared},
           {"copy_h2d_4k", copy_h2d},
           {"copy_h2d_1m", copy_h2d},
           {"copy_h2d_64m", copy_h2d},
           {"copy_d2h_1m", copy_d2h},
           {"streams_1", launches},
           {"streams_100", launches},
           {"streams_10000", launches},
           {"clients_1", client_launches},
           {"clients_4", client_launches},
           {"idle_cpu", idle},
           {"bytes_per_stream", bytes_per_stream},
           {"bytes_per_queued_command", bytes_per_queued}}};
}

}  // namespace troupe::bench
