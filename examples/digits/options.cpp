#include "examples/digits/options.hpp"

#include <cstdio>
#include <string>

#include <CLI/CLI.hpp>

namespace troupe::digits {

namespace {

/// The size of the test set that comes with the program.
constexpr std::size_t images_max = 3000;

void add_number(CLI::App& app, const std::string& name, std::size_t& target, std::size_t max,
                const std::string& meaning) {
  app.add_option(name, target, meaning)
      ->check(CLI::Range(std::size_t{1}, max))
      ->capture_default_str();
}

/// Found out now, not after a minute of work.
std::string check_writable(const std::string& path) {
  auto* file = std::fopen(path.c_str(), "ab");
  if (file == nullptr) return "cannot write to " + path;
  std::fclose(file);
  return {};
}

} // namespace

std::variant<program_options, exit_code> parse_options(int argc, char** argv) {
  CLI::App app(
      "Classifies handwritten digits on a device, by one pipeline that is improved step by step, "
      "and shows what each step gains.\n"
      "Exit codes: 0 all steps gave the same answers, 1 wrong results or a failed run, 2 usage.");
  app.name("digits");
  program_options options;
  add_number(app, "--batch", options.batch, 1024, "images in a batch");
  add_number(app, "--streams", options.streams, 64, "streams of the steps that use several");
  add_number(app, "--buffers", options.buffers, 256, "buffer sets of the asynchronous step");
  add_number(app, "--images", options.images, images_max, "images to classify");
  add_number(app, "--repeat", options.repeat, 1000, "rounds over all steps, the median counts");
  app.add_option("--json", options.json, "also write the figures to this file")
      ->type_name("FILE")
      ->check(CLI::Validator(check_writable, ""));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? exit_good : exit_usage;
  }
  return options;
}

} // namespace troupe::digits
