#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <variant>

#include <pthread.h>

#include <fmt/format.h>

#include <troupe/troupe.hpp>

#include "examples/digits/weights.hpp"
#include "examples/server/bare_handler.hpp"
#include "examples/server/http_front.hpp"
#include "examples/server/metrics.hpp"
#include "examples/server/options.hpp"
#include "examples/server/service.hpp"

namespace troupe::server {

namespace {

/// The signals that ask for the end, blocked from now on in this thread and all that it makes.
sigset_t block_end_signals() {
  sigset_t asked;
  sigemptyset(&asked);
  sigaddset(&asked, SIGTERM);
  sigaddset(&asked, SIGINT);
  pthread_sigmask(SIG_BLOCK, &asked, nullptr);
  return asked;
}

void serve_until_asked(const backend& behind, const front_options& options, const sigset_t& end,
                       const std::function<void()>& drain) {
  http_front front(behind, options);
  fmt::print("digits_server: listening at http://{}:{}\n", options.host, front.port());
  std::fflush(stdout);
  int which = 0;
  sigwait(&end, &which);
  drain();
  front.stop();
}

void serve_bare(const program_options& options, const digits::weight_set& weights,
                const sigset_t& end) {
  serve_until_asked({make_bare_classifier(weights), [] { return true; },
                     [] { return std::string("# no device\n"); }},
                    options.front, end, [] {});
}

void serve_device(const program_options& options, const digits::weight_set& weights,
                  const sigset_t& end) {
  runtime_options one_device;
  one_device.devices.resize(1);
  auto home = runtime::create(one_device, true).value();
  const auto where = home.device(0).value();
  {
    service digits_service(home, where, weights, options.service);
    serve_until_asked(
        {[&](auto image, auto deadline, const auto& gone) {
           return digits_service.classify(image, deadline, gone);
         },
         [&] { return !digits_service.draining() && digits_service.able(); },
         [&] { return metrics_text(digits_service, where); }},
        options.front, end, [&] { digits_service.drain(); });
    const auto& count = digits_service.count();
    fmt::print("digits_server: {} answered, {} failed, {} expired, {} refused\n",
               count.requests[static_cast<std::size_t>(verdict::answered)].load(),
               count.requests[static_cast<std::size_t>(verdict::failed)].load(),
               count.requests[static_cast<std::size_t>(verdict::expired)].load(),
               count.requests[static_cast<std::size_t>(verdict::overloaded)].load());
  }
  home.shutdown().or_throw();
}

} // namespace

} // namespace troupe::server

int main(int argc, char** argv) {
  using namespace troupe::server;
  const auto parsed = parse_options(argc, argv);
  if (const auto* code = std::get_if<int>(&parsed)) return *code;
  const auto& options = std::get<program_options>(parsed);
  const auto end = block_end_signals();
  try {
    const auto weights =
        troupe::digits::weight_set::load(std::filesystem::path(DIGITS_DATA_DIR) / "weights.bin");
    (options.bare ? serve_bare : serve_device)(options, weights, end);
    return 0;
  } catch (const troupe::error& e) {
    fmt::print(stderr, "digits_server: {}\n", e.outcome().describe());
  } catch (const std::exception& e) {
    fmt::print(stderr, "digits_server: {}\n", e.what());
  }
  return 1;
}
