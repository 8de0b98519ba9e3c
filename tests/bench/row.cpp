#include "tests/bench/row.hpp"

#include <algorithm>

namespace troupe::bench {

namespace {

constexpr std::size_t quick_divisor = 50;
constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;

// The counts keep a repetition of the slowest contender below about half a second.
std::vector<row> make_rows() {
  using enum unit;
  return {
    {"launch_throughput", "submit empty kernels to one stream and drain, a launch", nanoseconds,
     {.count = 100'000}},
    {"launch_sync", "one empty kernel and wait for it", nanoseconds, {.count = 5'000}},
    {"event_chain", "kernel, record | wait, kernel over two streams, a chain", nanoseconds,
     {.count = 20'000, .streams = 2}},
    {"graph_chain_1000", "replay a chain of 1,000 empty nodes and wait, a node", nanoseconds,
     {.count = 100'000}},
    {"graph_wide_1000", "replay 1,000 independent empty nodes and wait, a node", nanoseconds,
     {.count = 100'000}},
    {"graph_eager_1000", "launch 1,000 empty kernels and wait, a launch", nanoseconds,
     {.count = 100'000}},
    {"capture_cost", "capture a launch into a graph of 1,000, a launch", nanoseconds,
     {.count = 100'000}},
    {"idle_sync", "synchronise a stream that has nothing to do", nanoseconds, {.count = 100'000}},
    {"event_record", "record an event and drain, a record", nanoseconds, {.count = 20'000}},
    {"acl_launch", "launch_throughput through the C interface", nanoseconds, {.count = 100'000}},
    {"acl_event_record", "event_record through the C interface", nanoseconds, {.count = 20'000}},
    {"acl_idle_sync", "idle_sync through the C interface", nanoseconds, {.count = 100'000}},
    {"stream_create_destroy", "make a stream and destroy it", nanoseconds, {.count = 1'000}},
    {"pool_alloc_free_1m", "take 1 MiB from a pool and give it back", nanoseconds,
     {.count = 10'000, .bytes = mib}},
    {"pool_churn", "four threads take and free what the digits example does, a pair", nanoseconds,
     {.count = 200'000, .clients = 4}},
    {"fragmentation", "free memory that the largest hole does not hold, after a million changes",
     percent, {.count = 1'000'000, .bytes = 1'024 * mib}},
    {"alloc_1m_cleared", "allocate 1 MiB of zeros, touched, and free it", nanoseconds,
     {.count = 500, .bytes = mib}},
    {"copy_h2d_4k", "copy 4 KiB to the device and wait", nanoseconds,
     {.count = 5'000, .bytes = 4 * kib}},
    {"copy_h2d_1m", "copy 1 MiB to the device and wait", nanoseconds, {.count = 200, .bytes = mib}},
    {"copy_h2d_64m", "copy 64 MiB to the device and wait", nanoseconds,
     {.count = 10, .bytes = 64 * mib}},
    {"copy_d2h_1m", "copy 1 MiB from the device and wait", nanoseconds,
     {.count = 200, .bytes = mib}},
    {"copy_batch_1000x4k", "1,000 copies of 4 KiB to the device as one command, all of them",
     nanoseconds, {.count = 50, .bytes = 1'000 * 4 * kib}},
    {"copy_single_1000x4k", "the same as 1,000 commands, drained once", nanoseconds,
     {.count = 50, .bytes = 1'000 * 4 * kib}},
    {"convert_f32_f16_16m", "16 Mi numbers to the device, f32 converted to f16", nanoseconds,
     {.count = 5, .bytes = 16 * mib * 4}},
    {"streams_1", "launches over 1 stream, all drained, a launch", nanoseconds,
     {.count = 100'000, .streams = 1}},
    {"streams_100", "launches round robin over 100 streams, a launch", nanoseconds,
     {.count = 100'000, .streams = 100}},
    {"streams_10000", "launches round robin over 10,000 streams, a launch", nanoseconds,
     {.count = 100'000, .streams = 10'000}},
    {"clients_1", "one thread submits and drains, a launch", nanoseconds,
     {.count = 100'000, .clients = 1}},
    {"clients_4", "four threads submit to streams of their own and drain, a launch", nanoseconds,
     {.count = 100'000, .clients = 4}},
    {"single_requests", "16 clients' requests with a preparation of 50 us, each a launch and a wait",
     nanoseconds, {.count = 16'000, .clients = 16}},
    {"batched_requests", "the same merged by a batcher, which prepares once a batch", nanoseconds,
     {.count = 16'000, .clients = 16}},
    {"idle_cpu", "processor time of the process while 100 open streams idle", percent,
     {.streams = 100, .seconds = 1.0}},
    {"dataflow_chain", "empty tasks that all change one datum, and drain, a task", nanoseconds,
     {.count = 50'000, .streams = 1}},
    {"dataflow_wide", "empty tasks that change 64 data in turn, and drain, a task", nanoseconds,
     {.count = 50'000, .streams = 64}},
    {"fused_mlp", "2 dense layers (64 x 512 x 512) with bias and GELU, put together, and drain",
     nanoseconds, {.count = 200}},
    {"unfused_mlp", "the same, an operator a kernel", nanoseconds, {.count = 200}},
    {"fused_conv", "a 3x3 convolution (4 x 28 x 28 x 64) with norm and ReLU, put together, and drain",
     nanoseconds, {.count = 200}},
    {"unfused_conv", "the same, an operator a kernel", nanoseconds, {.count = 200}},
    {"digits_pipeline", "handwritten digits classified a second by the example's network",
     images_per_second, {.count = 3'000}},
    {"simulated_small", "simulated runs a second of two streams and an event, by seed",
     runs_per_second, {.count = 1'000}},
    {"simulated_reference", "simulated runs a second of the reference job of the tests, by seed",
     runs_per_second, {.count = 50}},
    {"bytes_per_stream", "memory that one more open stream takes", bytes, {.streams = 10'000}},
    {"bytes_per_queued_command", "memory that one more waiting kernel takes", bytes,
     {.count = 10'000}},
  };
}

}  // namespace

bool row::moves_bytes() const {
  return name.starts_with("copy_");
}

workload row::work(bool quick) const {
  if (!quick)
    return full;
  auto shrunk = full;
  shrunk.count = std::max<std::size_t>(1, full.count / quick_divisor);
  shrunk.streams = std::min<std::size_t>(full.streams, 200);
  shrunk.seconds = full.seconds / 10;
  return shrunk;
}

const std::vector<row>& all_rows() {
  static const auto rows = make_rows();
  return rows;
}

const row* find_row(std::string_view name) {
  const auto& rows = all_rows();
  auto found = std::find_if(rows.begin(), rows.end(), [&](const row& r) { return r.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

bool larger_is_better(unit u) {
  return u == unit::images_per_second || u == unit::runs_per_second;
}

std::string_view to_string(unit u) {
  switch (u) {
    case unit::nanoseconds: return "ns";
    case unit::percent: return "%";
    case unit::bytes: return "B";
    case unit::images_per_second: return "images/s";
    case unit::runs_per_second: return "runs/s";
  }
  return "?";
}

}  // namespace troupe::bench
