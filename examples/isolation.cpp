// Two tenants on one device. A kernel of the first fails, which ends the first one's work, as it
// asked for that (stop mode); the second tenant goes on and notices nothing.
#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>
#include <vector>

#include <troupe/troupe.hpp>

int main() try {
  troupe::runtime runtime;
  auto device = runtime.device(0).value();
  auto careless = device.create_context().value();
  auto careful = device.create_context().value();
  auto first = careless.create_stream().value();
  auto second = careful.create_stream().value();

  const auto divide = [](std::span<int> values, int by) {
    if (by == 0) throw std::invalid_argument("division by zero");
    for (auto& each : values) each /= by;
  };

  first.set_failure_mode(troupe::failure_mode::stop).or_throw();
  auto broken = careless.allocate<int>(8, troupe::initial::cleared).value();
  first.launch("divide", divide, broken, 0).or_throw(); // accepted; it fails when it runs
  const auto failure = first.synchronize();
  std::printf("the first tenant:\n%s\n", failure.describe().c_str());
  const auto refused = first.launch("divide", divide, broken, 1);

  std::vector<int> host(8, 84);
  auto sound = careful.allocate<int>(host.size()).value();
  second.copy(sound, host).or_throw();
  second.launch("divide", divide, sound, 2).or_throw();
  second.copy(host, sound).or_throw();
  const auto outcome = second.synchronize();
  std::printf("the second tenant: %s, 84 / 2 = %d\n", outcome.describe().c_str(), host[0]);

  const bool first_ended = failure.code() == troupe::code::kernel_exception &&
                           refused.code() == failure.code() && !careless.health().ok();
  return first_ended && outcome.ok() && careful.health().ok() && host[0] == 42 ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what()); // such as a variable TROUPE_... with a bad value
  return 2;
}
