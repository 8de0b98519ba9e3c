#include "examples/digits/network.hpp"

#include "examples/digits/digits_data.hpp"
#include "examples/digits/operators.hpp"

#include <algorithm>
#include <gsl/gsl>
#include <utility>

namespace troupe::digits {

namespace {

using dims = std::vector<std::uint32_t>;

constexpr std::uint32_t side = image_side;
constexpr std::uint32_t pooled_side = side / 4;
constexpr std::uint32_t kernel = 5;
constexpr std::uint32_t channels1 = 8;
constexpr std::uint32_t channels2 = 16;
constexpr std::uint32_t flat = channels2 * pooled_side * pooled_side;
constexpr std::uint32_t hidden = 64;
constexpr std::uint32_t classes = class_count;

/// The first dense layer was trained on flattened NCHW and gets flattened NHWC: its rows follow.
std::vector<float> rows_chw_to_hwc(std::span<const float> weight) {
  constexpr std::size_t pixels = pooled_side * pooled_side;
  std::vector<float> result(weight.size());
  auto next = result.begin();
  for (std::size_t pixel = 0; pixel < pixels; ++pixel)
    for (std::size_t channel = 0; channel < channels2; ++channel)
      next = std::ranges::copy(weight.subspan((channel * pixels + pixel) * hidden, hidden), next)
               .out;
  return result;
}

}  // namespace

network::network(std::int64_t batch, const weight_set& weights)
  : batch_(batch), plain_(weights) {
  Expects(batch >= 1);
  tensors_.push_back({"image", this->batch() * image_pixels});
  add_conv_block("conv1", weights, side, 1, channels1);
  add_conv_block("conv2", weights, side / 2, channels1, channels2);
  const auto dense1 = rows_chw_to_hwc(weights.get("dense1.weight", dims{flat, hidden}));
  add_dense("dense1", weights, flat, hidden, dense1);
  add("dense1.relu", std::make_shared<relu>(batch * hidden));
  add_dense("dense2", weights, hidden, classes,
            weights.get("dense2.weight", dims{hidden, classes}));
  add("softmax", std::make_shared<softmax>(batch, classes));
}

std::size_t network::batch() const noexcept {
  return static_cast<std::size_t>(batch_);
}

std::span<const network::tensor> network::tensors() const noexcept {
  return tensors_;
}

std::span<const network::weight> network::weights() const noexcept {
  return weights_;
}

std::span<const network::step> network::steps() const noexcept {
  return steps_;
}

const weight_set& network::plain_weights() const noexcept {
  return plain_;
}

void network::add(std::string name, std::shared_ptr<const tensor_operator> operation,
                  const std::vector<plain_weight>& weights) {
  Expects(operation->input_floats() == tensors_.back().floats);
  Expects(operation->weight_count() == weights.size());
  step next{name, operation, tensors_.size() - 1, {}, tensors_.size()};
  for (std::size_t index = 0; index < weights.size(); ++index) {
    next.weights.push_back(weights_.size());
    weights_.push_back(
      {weights[index].name, operation->prepare_weight(index, weights[index].values)});
  }
  steps_.push_back(std::move(next));
  tensors_.push_back({std::move(name), operation->output_floats()});
}

void network::add_conv_block(const std::string& name, const weight_set& weights,
                             std::uint32_t input_side, std::uint32_t in, std::uint32_t out) {
  const image_shape input{batch_, input_side, input_side, in};
  const image_shape output{batch_, input_side, input_side, out};
  const auto weight_name = name + ".weight";
  const auto bias_name = name + ".bias";
  add(name, std::make_shared<conv2d>(input, out, kernel),
      {{weight_name, weights.get(weight_name, dims{out, in, kernel, kernel})}});
  add(bias_name, std::make_shared<bias>(output), {{bias_name, weights.get(bias_name, dims{out})}});
  add(name + ".relu", std::make_shared<relu>(batch_ * input_side * input_side * out));
  add(name + ".pool", std::make_shared<max_pool>(output));
}

void network::add_dense(const std::string& name, const weight_set& weights, std::uint32_t in,
                        std::uint32_t out, std::span<const float> plain) {
  const auto bias_name = name + ".bias";
  add(name, std::make_shared<matmul>(batch_, in, out), {{name + ".weight", plain}});
  add(bias_name, std::make_shared<bias>(image_shape{batch_, 1, 1, out}),
      {{bias_name, weights.get(bias_name, dims{out})}});
}

void pick_classes(std::span<const float> probabilities, std::span<std::uint8_t> picked) {
  Expects(probabilities.size() % class_count == 0);
  Expects(picked.size() <= probabilities.size() / class_count);
  for (std::size_t row = 0; row < picked.size(); ++row) {
    const auto scores = probabilities.subspan(row * class_count, class_count);
    picked[row] = gsl::narrow<std::uint8_t>(std::ranges::max_element(scores) - scores.begin());
  }
}

}  // namespace troupe::digits
