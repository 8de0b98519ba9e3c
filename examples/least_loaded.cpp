// Work spread over several devices: each piece goes to the device that has least to do at that
// moment. Every piece is a tenant of its own: a context with a stream and memory.
#include <cstdio>
#include <exception>
#include <span>
#include <utility>
#include <vector>

#include <troupe/troupe.hpp>

namespace {

struct piece {
  troupe::context context;
  troupe::stream stream;
  troupe::buffer<unsigned> memory;
};

void square(troupe::block b, std::span<unsigned> values) {
  for (auto i = std::size_t{b.index}; i < values.size(); i += b.count) values[i] *= values[i];
}

} // namespace

int main() try {
  troupe::runtime_options options;
  options.devices.resize(4);
  troupe::runtime runtime(options);

  const std::vector<unsigned> input(10'000, 12);
  std::vector<piece> pieces;
  std::vector<int> taken(runtime.device_count(), 0);
  for (int i = 0; i < 12; ++i) {
    auto device = runtime.least_loaded().value();
    ++taken[device.index()];
    auto context = device.create_context().value();
    auto stream = context.create_stream().value();
    auto memory = context.allocate<unsigned>(input.size()).value();
    stream.copy(memory, input).or_throw();
    stream.launch({"square", 4}, square, memory).or_throw();
    pieces.push_back({std::move(context), std::move(stream), std::move(memory)});
  }

  int right = 0;
  for (auto& each : pieces) {
    std::vector<unsigned> output(input.size());
    each.stream.copy(output, each.memory).or_throw();
    if (output == std::vector<unsigned>(input.size(), 144)) ++right;
  }
  bool all_used = true;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    std::printf("device %zu took %d pieces\n", i, taken[i]);
    all_used = all_used && taken[i] > 0;
  }
  return right == 12 && all_used ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what()); // such as a variable TROUPE_... with a bad value
  return 2;
}
