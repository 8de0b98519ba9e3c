#include "tests/bench/contenders/troupe_session.hpp"

#include "tests/bench/peers/kernel.hpp"

namespace troupe::bench {

namespace {

runtime_options one_device() {
  device_profile profile;
  profile.stream_limit = 1'000'000;  // Rows open up to 80,000 streams.
  profile.queue_slots = 65'536;       // What is measured is not how they wait for each other.
  runtime_options options;
  options.devices.assign(1, profile);
  return options;
}

}  // namespace

troupe_session::troupe_session(std::size_t streams_open)
  : rt(runtime::create(one_device(), true).value()),
    ctx(rt.device(0).value().create_context().value()) {
  add(streams_open);
}

void troupe_session::add(std::size_t count) {
  streams.reserve(streams.size() + count);
  for (std::size_t i = 0; i < count; ++i)
    streams.push_back(ctx.create_stream().value());
}

void troupe_session::launch(std::size_t stream) {
  streams[stream].launch("nop", nop_kernel, nullptr).or_throw();
}

void troupe_session::sync_all() const {
  for (const auto& each : streams)
    each.synchronize().or_throw();
}

}  // namespace troupe::bench
