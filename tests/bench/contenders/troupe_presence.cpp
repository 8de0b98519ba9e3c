#include "tests/bench/contenders/troupe_rows.hpp"
#include "tests/bench/contenders/troupe_session.hpp"
#include "tests/bench/measure.hpp"
#include "tests/bench/peers/kernel.hpp"

#include <memory>

namespace troupe::bench::troupe_rows {

repetition idle(const workload& w) {
  auto s = std::make_shared<troupe_session>(w.streams);
  return [s, w] {
    for (std::size_t stream = 0; stream < w.streams; ++stream)
      s->launch(stream);
    s->sync_all();
    return idle_cpu_percent(w.seconds);
  };
}

repetition bytes_per_stream(const workload& w) {
  auto s = std::make_shared<troupe_session>(1);
  auto memory = std::make_shared<growth>();
  return [s, memory, w] { return memory->add(w.streams, [&] { s->add(w.streams); }); };
}

repetition bytes_per_queued(const workload& w) {
  constexpr unsigned deep = 1'000'000;  // All repetitions queue up in one stream.
  static gate closed;
  auto s = std::make_shared<troupe_session>(0);
  s->streams.push_back(s->ctx.create_stream({.queue_depth = deep}).value());
  s->streams[0].launch("closed gate", [] { closed.block(); }).or_throw();
  closed.wait_entered();
  auto memory = std::make_shared<growth>();
  return [s, memory, w] {
    return memory->add(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i)
        s->launch(0);
    });
  };
}

}  // namespace troupe::bench::troupe_rows
