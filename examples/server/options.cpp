#include "examples/server/options.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>

namespace troupe::server {

namespace {

template <class Number>
void add_number(CLI::App& app, const std::string& name, Number& target, Number least, Number most,
                const std::string& meaning) {
  app.add_option(name, target, meaning)->check(CLI::Range(least, most))->capture_default_str();
}

} // namespace

std::variant<program_options, int> parse_options(int argc, char** argv) {
  CLI::App app(
      "Serves the network that reads handwritten digits over HTTP: POST /classify, GET /healthz, "
      "GET /metrics. SIGTERM or SIGINT: answers what was accepted, then ends.\n"
      "Exit codes: 0 ended as asked, 1 could not serve, 2 usage.");
  app.name("digits_server");
  program_options options;
  options.front.port = 8080;
  // The other half of the hardware serves connections.
  options.service.lanes = std::max(1U, std::thread::hardware_concurrency() / 2);
  auto deadline_ms = static_cast<std::int64_t>(options.front.deadline.count());
  const auto deadline_max = static_cast<std::int64_t>(options.front.deadline_max.count());
  constexpr std::size_t one = 1;
  app.add_option("--host", options.front.host, "address to listen at")->capture_default_str();
  add_number(app, "--port", options.front.port, 0, 65535, "port; 0: any that is free");
  add_number(app, "--connections", options.front.connections_max, one, std::size_t{4096},
             "connections served at once; what comes beyond is told 429");
  add_number(app, "--deadline", deadline_ms, std::int64_t{1}, deadline_max,
             "milliseconds that a request may take if it names no deadline");
  add_number(app, "--lanes", options.service.lanes, one, std::size_t{64},
             "batches under way at the same time");
  add_number(app, "--batch", options.service.batch_max, one, std::size_t{1024},
             "requests that one batch may take");
  add_number(app, "--queue", options.service.queue_max, one, std::size_t{65536},
             "requests that may wait; what comes beyond is told 429");
  app.add_flag("--bare", options.bare, "compute in the handler, without a device, to compare");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  options.front.deadline = std::chrono::milliseconds(deadline_ms);
  return options;
}

} // namespace troupe::server
