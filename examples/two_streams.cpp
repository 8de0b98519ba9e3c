// Two streams that run in parallel, put in order by an event: one fills a block of device memory,
// the other sums it up, and starts only when the first has come to its mark.
#include <cstdio>
#include <exception>
#include <numeric>
#include <span>
#include <vector>

#include <troupe/troupe.hpp>

int main() try {
  troupe::runtime runtime;
  auto device = runtime.device(0).value();
  auto context = device.create_context().value();
  auto producer = context.create_stream().value();
  auto consumer = context.create_stream().value();
  auto filled = context.create_event().value();

  auto numbers = context.allocate<long>(1'000'000).value();
  auto sum = context.allocate<long>(1).value();

  const auto fill = [](std::span<long> out) { std::iota(out.begin(), out.end(), 1L); };
  const auto add_up = [](std::span<const long> in, std::span<long> out) {
    out[0] = std::accumulate(in.begin(), in.end(), 0L);
  };

  producer.launch("fill", fill, numbers).or_throw();
  producer.record(filled).or_throw();
  consumer.wait(filled).or_throw(); // without this line the sum is anything
  consumer.launch("add up", add_up, numbers, sum).or_throw();

  // The producer is free to go on meanwhile; only the consumer waits.
  int more_work = 0;
  producer.callback("more work", [&more_work] { more_work = 1; }).or_throw();

  std::vector<long> host(1);
  consumer.copy(host, sum).or_throw();
  producer.synchronize().or_throw();

  std::printf("the sum of 1 to 1,000,000 is %ld\n", host[0]);
  return host[0] == 500'000'500'000L && more_work == 1 ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what()); // such as a variable TROUPE_... with a bad value
  return 2;
}
