#include "examples/digits/device_network.hpp"

#include <string_view>
#include <utility>

#include <gsl/gsl>

namespace troupe::digits {

device_network::device_network(const context& home, std::shared_ptr<const network> net)
    : net_(std::move(net)) {
  for (const auto& weight : net_->weights()) {
    auto& target = weights_.emplace_back(home.allocate<float>(weight.values.size()).value());
    home.copy(target, weight.values).or_throw();
  }
  for (const auto& step : net_->steps()) {
    Expects(step.input == launches_.size() && step.output == step.input + 1);
    Expects(step.weights.size() <= 1);
    device_span<const float> weight;
    if (!step.weights.empty()) weight = weights_[step.weights.front()].span();
    launches_.push_back({task(std::string_view(step.name)), step.operation, weight});
  }
}

status device_network::launch(stream& s, std::size_t index, device_span<const float> input,
                              device_span<float> output) const {
  Expects(index < launches_.size());
  const auto& parts = launches_[index];
  return s.launch(
      parts.name,
      [operation = parts.operation](std::span<const float> in, std::span<const float> weight,
                                    std::span<float> out) {
        operation->run(in, std::span(&weight, weight.empty() ? 0 : 1), out);
      },
      input, parts.weight, output);
}

} // namespace troupe::digits
