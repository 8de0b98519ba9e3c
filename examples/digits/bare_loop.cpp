#include "examples/digits/bare_loop.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

namespace troupe::digits {

namespace {

/// Buffers for all tensors of a network, and its steps bound to them.
class bound_network {
public:
  explicit bound_network(const network& net) {
    for (const auto& tensor : net.tensors())
      buffers_.emplace_back(tensor.floats);
    for (const auto& step : net.steps()) {
      bound_step next{*step.operation, buffers_[step.input], {}, buffers_[step.output]};
      for (const auto index : step.weights)
        next.weights.emplace_back(net.weights()[index].values);
      steps_.push_back(std::move(next));
    }
  }

  std::span<float> input() noexcept {
    return buffers_.front();
  }

  std::span<const float> output() const noexcept {
    return buffers_.back();
  }

  void run() const {
    for (const auto& step : steps_)
      step.operation.run(step.input, step.weights, step.output);
  }

private:
  struct bound_step {
    const tensor_operator& operation;
    std::span<const float> input;
    std::vector<std::span<const float>> weights;
    std::span<float> output;
  };

  std::vector<std::vector<float>> buffers_;
  std::vector<bound_step> steps_;
};

}  // namespace

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
