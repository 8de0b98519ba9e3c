#include "examples/digits/bare_loop.hpp"

#include "examples/digits/bound_network.hpp"

#include <algorithm>
#include <chrono>
#include <span>

namespace troupe::digits {

answers run_bare_loop(const network& net, const image_set& images) {
  using clock = std::chrono::steady_clock;
  bound_network bound{net};
  answers result;
  result.predictions.resize(images.size());
  result.latencies_ms.reserve(images.size() / net.batch() + 1);
  bound.run();
  const auto begin = clock::now();
  auto begin_batch = begin;
  for (std::size_t first = 0; first < images.size(); first += net.batch()) {
    fill_batch(images, first, bound.input());
    bound.run();
    const auto count = std::min(net.batch(), images.size() - first);
    pick_classes(bound.output(), std::span{result.predictions}.subspan(first, count));
    const auto end_batch = clock::now();
    const std::chrono::duration<double, std::milli> latency = end_batch - begin_batch;
    result.latencies_ms.push_back(latency.count());
    begin_batch = end_batch;
  }
  const std::chrono::duration<double> elapsed = begin_batch - begin;
  result.seconds = elapsed.count();
  return result;
}

}  // namespace troupe::digits
