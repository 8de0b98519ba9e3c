#include "examples/server/metrics.hpp"

#include <cstdint>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

namespace troupe::server {

namespace {

/// Text that grows, metric by metric.
class page {
public:
  void head(std::string_view metric, std::string_view type, std::string_view help) {
    fmt::format_to(std::back_inserter(text_), "# HELP {0} {2}\n# TYPE {0} {1}\n", metric, type, help);
  }

  template <class Number>
  void line(std::string_view metric, std::string_view labels, Number value) {
    fmt::format_to(std::back_inserter(text_), "{}{} {}\n", metric, labels, value);
  }

  template <class Number>
  void one(std::string_view metric, std::string_view type, std::string_view help, Number value) {
    head(metric, type, help);
    line(metric, "", value);
  }

  [[nodiscard]] std::string take() { return std::move(text_); }

private:
  std::string text_;
};

void add_requests(page& to, const figures& count) {
  to.head("digits_requests_total", "counter", "Requests by what became of them.");
  for (std::size_t index = 0; index < verdict_count; ++index) {
    to.line("digits_requests_total",
            fmt::format("{{verdict=\"{}\"}}", name(static_cast<verdict>(index))),
            count.requests[index].load());
  }
  constexpr auto latency = "digits_latency_seconds";
  to.head(latency, "histogram", "Time from the request's arrival to its answer.");
  std::uint64_t below = 0;
  for (std::size_t bucket = 0; bucket < count.latency.size(); ++bucket) {
    below += count.latency[bucket].load();
    const auto bound = bucket < figures::bounds_us.size()
                           ? fmt::format("{}", static_cast<double>(figures::bounds_us[bucket]) / 1e6)
                           : std::string("+Inf");
    to.line("digits_latency_seconds_bucket", fmt::format("{{le=\"{}\"}}", bound), below);
  }
  to.line("digits_latency_seconds_sum", "",
          static_cast<double>(count.latency_sum_us.load()) / 1e6);
  to.line("digits_latency_seconds_count", "", below);
}

void add_service(page& to, const service& of) {
  const auto& count = of.count();
  to.one("digits_waiting", "gauge", "Requests that wait for a lane.", of.waiting());
  to.one("digits_waiting_max", "gauge", "Requests that may wait.", of.options().queue_max);
  to.one("digits_lanes", "gauge", "Lanes.", of.options().lanes);
  to.one("digits_lanes_down", "gauge", "Lanes without a working context.", count.lanes_down.load());
  to.one("digits_batches_total", "counter", "Batches run.", count.batches.load());
  to.one("digits_batched_requests_total", "counter", "Requests in these batches.",
         count.batched_requests.load());
  to.one("digits_retries_total", "counter", "Batches tried again.", count.retries.load());
  to.one("digits_rebuilds_total", "counter", "Contexts given up after a failure.",
         count.rebuilds.load());
}

void add_device(page& to, const device& where) {
  const auto now = where.counters();
  to.one("troupe_device_utilisation", "gauge", "Share of the compute engines' time spent at work.",
         now.utilisation());
  to.one("troupe_device_streams", "gauge", "Streams of the device.", now.streams);
  to.one("troupe_device_allocations_total", "counter", "Blocks taken from the device's memory.",
         now.allocations);
  to.head("troupe_engine_commands_total", "counter", "Commands executed, by kind of engine.");
  to.line("troupe_engine_commands_total", "{engine=\"compute\"}", now.compute.commands);
  to.line("troupe_engine_commands_total", "{engine=\"dma_h2d\"}", now.dma_h2d.commands);
  to.line("troupe_engine_commands_total", "{engine=\"dma_d2h\"}", now.dma_d2h.commands);
  to.head("troupe_engine_waiting", "gauge", "Streams that queue for an engine.");
  to.line("troupe_engine_waiting", "{engine=\"compute\"}", now.compute.waiting);
  if (const auto memory = where.memory()) {
    to.one("troupe_memory_used_bytes", "gauge", "Device memory in use.", memory.value().used);
    to.one("troupe_memory_total_bytes", "gauge", "Device memory.", memory.value().total);
  }
}

} // namespace

std::string metrics_text(const service& of, const device& where) {
  page made;
  add_requests(made, of.count());
  add_service(made, of);
  add_device(made, where);
  return made.take();
}

} // namespace troupe::server
