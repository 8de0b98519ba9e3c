#include "tests/bench/contenders/troupe_rows.hpp"
#include "tests/bench/measure.hpp"
#include "tests/simulation/reference_job.hpp"
#include "troupe/testing.hpp"

#include <memory>
#include <stdexcept>

namespace troupe::bench::troupe_rows {

namespace {

testing::simulation_options small_devices(std::size_t count) {
  testing::simulation_options made;
  device_profile small;
  small.memory_bytes = std::uint64_t{64} << 20;
  made.runtime.devices.assign(count, small);
  made.choice = testing::order::explore;
  return made;
}

// Two streams in the order of an event between them.
void write_then_read(testing::stage& play) {
  const auto context = play.runtime().device(0).value().create_context().value();
  auto writer = context.create_stream().value();
  auto reader = context.create_stream().value();
  const auto written = context.create_event().value();
  int cell = 0;
  int seen = -1;
  writer.launch("write", [&cell] { cell = 42; }).or_throw();
  writer.record(written).or_throw();
  reader.wait(written).or_throw();
  reader.launch("read", [&] { seen = cell; }).or_throw();
  context.synchronize().or_throw();
  if (seen != 42)
    throw std::logic_error("a simulated event did not order its streams");
}

// Every repetition goes through the same seeds.
repetition runs_a_second(const workload& w, std::size_t devices,
                         const std::function<void(const testing::simulation_options&)>& run) {
  return [w, run, options = small_devices(devices)]() mutable {
    return 1e9 / ns_each(w.count, [&] {
             for (options.seed = 1; options.seed <= w.count; ++options.seed)
               run(options);
           });
  };
}

}  // namespace

repetition simulated_small(const workload& w) {
  return runs_a_second(w, 1, [](const testing::simulation_options& options) {
    (void)testing::simulate(options, &write_then_read);
  });
}

repetition simulated_reference(const workload& w) {
  return runs_a_second(w, reference_job::sides, [](const testing::simulation_options& options) {
    reference_job job;
    const auto report =
      testing::simulate(options, [&job](testing::stage& play) { job.run(play); });
    if (const auto wrong = job.verdict(report); !wrong.empty())
      throw std::logic_error(wrong);
  });
}

}  // namespace troupe::bench::troupe_rows
