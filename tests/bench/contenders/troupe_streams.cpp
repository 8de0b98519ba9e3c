#include "tests/bench/contenders/troupe_rows.hpp"
#include "tests/bench/contenders/troupe_session.hpp"
#include "tests/bench/measure.hpp"

#include <memory>

namespace troupe::bench::troupe_rows {

repetition launches(const workload& w) {
  auto s = std::make_shared<troupe_session>(w.streams);
  return [s, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0, stream = 0; i < w.count; ++i) {
        s->launch(stream);
        if (++stream == w.streams)
          stream = 0;
      }
      s->sync_all();
    });
  };
}

repetition launch_sync(const workload& w) {
  auto s = std::make_shared<troupe_session>(1);
  return [s, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i) {
        s->launch(0);
        s->sync_all();
      }
    });
  };
}

repetition client_launches(const workload& w) {
  auto s = std::make_shared<troupe_session>(w.clients);
  return [s, w] {
    return ns_each(w.count, [&] {
      on_clients(w.clients, [&](std::size_t client) {
        for (std::size_t i = 0; i < w.count / w.clients; ++i)
          s->launch(client);
      });
      s->sync_all();
    });
  };
}

repetition event_chain(const workload& w) {
  auto s = std::make_shared<troupe_session>(2);
  auto recorded = s->ctx.create_event().value();
  return [s, recorded, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i) {
        s->launch(0);
        s->streams[0].record(recorded).or_throw();
        s->streams[1].wait(recorded).or_throw();
        s->launch(1);
      }
      s->sync_all();
    });
  };
}

repetition idle_sync(const workload& w) {
  auto s = std::make_shared<troupe_session>(1);
  return [s, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i)
        s->sync_all();
    });
  };
}

repetition event_record(const workload& w) {
  auto s = std::make_shared<troupe_session>(1);
  auto recorded = s->ctx.create_event().value();
  return [s, recorded, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i)
        s->streams[0].record(recorded).or_throw();
      s->sync_all();
    });
  };
}

repetition create_destroy(const workload& w) {
  auto s = std::make_shared<troupe_session>(0);
  return [s, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i)
        s->ctx.create_stream().value().destroy().or_throw();
    });
  };
}

}  // namespace troupe::bench::troupe_rows
