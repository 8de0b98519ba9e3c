#include "examples/digits/report.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <gsl/gsl>
#include <nlohmann/json.hpp>

namespace troupe::digits {

namespace {

constexpr auto line_format = "{:<14}{:>9}{:>6}{:>8}{:>8}{:>8}{:>8}{:>9}{:>7}{:>10}{:>10}{:>8}{:>6}{:>10}\n";

std::string per_cent(double share) { return fmt::format("{:.1f}%", share * 100); }

std::string megabytes(std::uint64_t bytes) {
  return fmt::format("{:.1f}", static_cast<double>(bytes) / 1e6);
}

double accuracy(const figures& of, const setting& where) {
  return static_cast<double>(of.right) / static_cast<double>(where.options.images);
}

void print_line(const setting& where, const figures& line, double images_per_s_first) {
  const auto count = [&](std::uint64_t n) { return line.on_device ? fmt::format("{}", n) : "-"; };
  const auto share = [&](double value) { return line.on_device ? per_cent(value) : "-"; };
  fmt::print(line_format, line.name, fmt::format("{:.0f}", line.images_per_s),
             fmt::format("{:.2f}", line.images_per_s / images_per_s_first),
             fmt::format("{:.3f}", line.p50_ms), fmt::format("{:.3f}", line.p99_ms),
             count(line.device_allocations), count(line.pool_allocations), count(line.launches),
             count(line.launches_saved), line.on_device ? megabytes(line.bytes_saved) : "-",
             line.on_device ? megabytes(line.bytes_copied) : "-", share(line.compute_use), share(line.dma_use),
             fmt::format("{:.2f}%", accuracy(line, where) * 100));
}

nlohmann::ordered_json to_json(const setting& where, const figures& of) {
  nlohmann::ordered_json made{
      {"name", of.name},       {"change", of.change},
      {"images_per_s", of.images_per_s}, {"p50_ms", of.p50_ms},
      {"p99_ms", of.p99_ms},   {"accuracy", accuracy(of, where)}};
  if (of.on_device) {
    made["device_allocations"] = of.device_allocations;
    made["pool_allocations"] = of.pool_allocations;
    made["launches"] = of.launches;
    made["launches_saved"] = of.launches_saved;
    made["bytes_saved"] = of.bytes_saved;
    made["bytes_copied"] = of.bytes_copied;
    made["compute_use"] = of.compute_use;
    made["dma_use"] = of.dma_use;
  }
  return made;
}

} // namespace

void print_report(const setting& where, const figures& bare, std::span<const figures> steps) {
  Expects(!steps.empty());
  const auto& options = where.options;
  fmt::print("{} images in batches of {}, median of {} rounds; {} streams, {} buffer sets\n"
             "{} with {} compute engines on {} hardware threads; every kernel computes "
             "with oneDNN on one thread\n\n",
             options.images, options.batch, options.repeat, options.streams, options.buffers,
             where.device_name, where.compute_engines, where.hardware_threads);
  fmt::print(line_format, "step", "images/s", "gain", "p50 ms", "p99 ms", "allocs", "pooled",
             "launches", "saved", "MB saved", "MB copied", "compute", "dma", "accuracy");
  const auto first = steps.front().images_per_s;
  print_line(where, bare, first);
  for (const auto& step : steps) print_line(where, step, first);
  const auto fastest = std::ranges::max_element(steps, {}, &figures::images_per_s);
  fmt::print("\n");
  for (const auto& step : steps) fmt::print("{:<16}{}\n", step.name, step.change);
  fmt::print("\npredictions of all steps are identical, and identical to those of the {}\n"
             "\"{}\" does {:.2f} times the images of the bare loop: {} compute engines, a copy "
             "thread each way and the host against 1 thread\n",
             bare.name, fastest->name, fastest->images_per_s / bare.images_per_s,
             where.compute_engines);
}

void write_json(const setting& where, const figures& bare, std::span<const figures> steps) {
  const auto& options = where.options;
  nlohmann::ordered_json made{{"batch", options.batch},
                              {"streams", options.streams},
                              {"buffers", options.buffers},
                              {"images", options.images},
                              {"repeat", options.repeat},
                              {"device", where.device_name},
                              {"compute_engines", where.compute_engines},
                              {"hardware_threads", where.hardware_threads},
                              {"predictions_identical", true},
                              {"bare_loop", to_json(where, bare)}};
  for (const auto& step : steps) made["steps"].push_back(to_json(where, step));
  std::ofstream file(options.json);
  file << made.dump(2) << '\n';
  file.close();
  if (!file) throw std::runtime_error(options.json + ": cannot be written");
}

} // namespace troupe::digits
