#pragma once

#include <span>
#include <utility>
#include <vector>

#include "examples/digits/network.hpp"

namespace troupe::digits {

/// A network with host memory of its own, run step after step by the calling thread: what a program
/// without a device runtime would do. One thread at a time; the network must outlive it.
class bound_network {
public:
  explicit bound_network(const network& net) {
    for (const auto& tensor : net.tensors()) buffers_.emplace_back(tensor.floats);
    for (const auto& step : net.steps()) {
      bound_step next{*step.operation, buffers_[step.input], {}, buffers_[step.output]};
      for (const auto index : step.weights) next.weights.emplace_back(net.weights()[index].values);
      steps_.push_back(std::move(next));
    }
  }

  std::span<float> input() noexcept { return buffers_.front(); }

  std::span<const float> output() const noexcept { return buffers_.back(); }

  void run() const {
    for (const auto& step : steps_) step.operation.run(step.input, step.weights, step.output);
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

} // namespace troupe::digits
