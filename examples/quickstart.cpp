// The shortest useful program: make a runtime, move bytes to a device, compute there, copy back.
#include <cstdio>
#include <exception>
#include <span>
#include <vector>

#include <troupe/troupe.hpp>

int main() try {
  troupe::runtime runtime; // eight devices of the default profile
  auto device = runtime.device(0).value();
  auto context = device.create_context().value();
  auto stream = context.create_stream().value();

  std::vector<float> host(1024, 3.0F);
  auto x = context.allocate<float>(host.size()).value();

  const auto scale = [](troupe::block b, std::span<float> values, float factor) {
    for (auto i = std::size_t{b.index}; i < values.size(); i += b.count) values[i] *= factor;
  };
  stream.copy(x, host).or_throw();
  stream.launch({"scale", 4}, scale, x, 2.0F).or_throw();
  stream.copy(host, x).or_throw();
  stream.synchronize().or_throw();

  std::printf("%s computed 3 * 2 = %.0f\n", device.profile().name.c_str(), host[7]);
  return host[7] == 6.0F ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what()); // such as a variable TROUPE_... with a bad value
  return 2;
}
