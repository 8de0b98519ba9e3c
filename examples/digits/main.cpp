#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <thread>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gsl/gsl>

#include <troupe/troupe.hpp>

#include "examples/digits/bare_loop.hpp"
#include "examples/digits/measure.hpp"
#include "examples/digits/options.hpp"
#include "examples/digits/pipeline.hpp"
#include "examples/digits/progress.hpp"
#include "examples/digits/report.hpp"

namespace troupe::digits {

namespace {

image_set load_images(const std::filesystem::path& data, std::size_t count) {
  auto images = load_image_set(data / "test_images.idx.gz", data / "test_labels.idx.gz");
  if (images.size() < count) {
    throw std::runtime_error(
        fmt::format("the test set has {} images, {} are wanted", images.size(), count));
  }
  images.labels.resize(count);
  images.pixels.resize(count * image_pixels);
  return images;
}

std::vector<contestant> make_contestants(const workshop& shop) {
  std::vector<contestant> made;
  made.push_back({"bare loop", "oneDNN alone, in one thread", false,
                  [net = shop.net](const image_set& images) { return run_bare_loop(*net, images); },
                  nullptr, {}});
  for (const auto& entry : pipeline_entries()) {
    std::shared_ptr<pipeline_step> step = entry.make(shop);
    made.push_back({entry.name, entry.change, true,
                    [step](const image_set& images) { return step->run(images); },
                    [step] { return step->pool_allocations(); }, step->saved()});
  }
  return made;
}

void run(const program_options& options) {
  const std::filesystem::path data(DIGITS_DATA_DIR);
  const auto images = load_images(data, options.images);
  const auto net = std::make_shared<const network>(gsl::narrow<std::int64_t>(options.batch),
                                                   weight_set::load(data / "weights.bin"));
  runtime_options one_device;
  one_device.devices.resize(1);
  auto home = runtime::create(one_device, true).value();
  const auto where = home.device(0).value();
  {
    const auto contestants =
        make_contestants({home, where, net, options.streams, options.buffers});
    std::vector<figures> all;
    {
      progress shown(contestants.size() * options.repeat);
      all = measure(contestants, where, images, options.repeat, shown);
    }
    const setting measured_on{options, where.profile().name, where.counters().engines_max,
                              std::thread::hardware_concurrency()};
    const auto steps = std::span<const figures>(all).subspan(1);
    print_report(measured_on, all.front(), steps);
    if (!options.json.empty()) write_json(measured_on, all.front(), steps);
  }
  home.shutdown().or_throw();
}

} // namespace

} // namespace troupe::digits

int main(int argc, char** argv) {
  using namespace troupe::digits;
  const auto parsed = parse_options(argc, argv);
  if (const auto* code = std::get_if<exit_code>(&parsed)) return *code;
  try {
    run(std::get<program_options>(parsed));
    return exit_good;
  } catch (const troupe::error& e) {
    fmt::print(stderr, "digits: {}\n", e.outcome().describe());
  } catch (const std::exception& e) {
    fmt::print(stderr, "digits: {}\n", e.what());
  }
  return exit_failed;
}
