#include "api/src/operators/constants.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "core/tensors/strided_copy.hpp"

namespace troupe::operators {
namespace {

using bytes_in = std::span<const std::byte>;
using bytes_out = std::span<std::byte>;

float element(bytes_in of, const tensor_layout& layout, std::size_t i) {
  const auto at = i * static_cast<std::size_t>(layout.strides.front()) * sizeof(float);
  float value = 0;
  std::memcpy(&value, of.data() + at, sizeof value);
  return value;
}

// The layouts of a fold, as its kernel keeps them.
struct fold_shapes {
  tensor_layout weight, bias, scale, shift, mean, variance;
  bool biased = false;
  double epsilon = 0;
};

struct fold_kernel {
  fold_shapes from;

  void operator()(bytes_in weight, bytes_in bias, bytes_in scale, bytes_in shift, bytes_in mean,
                  bytes_in variance, bytes_out weight_to, bytes_out bias_to) const {
    const auto& shape = from.weight.shape;
    const strided_copy plain{sizeof(float), shape, from.weight.strides, row_major(shape)};
    plain(weight.data(), weight_to.data());
    auto* const weights = reinterpret_cast<float*>(weight_to.data());
    auto* const biases = reinterpret_cast<float*>(bias_to.data());
    const auto channels = static_cast<std::size_t>(shape.front());
    const auto each = static_cast<std::size_t>(from.weight.elements()) / channels;
    for (std::size_t c = 0; c < channels; ++c) {
      const auto factor = element(scale, from.scale, c) /
                          std::sqrt(element(variance, from.variance, c) + from.epsilon);
      for (std::size_t i = c * each; i < (c + 1) * each; ++i) {
        weights[i] = static_cast<float>(weights[i] * factor);
      }
      const double before = from.biased ? element(bias, from.bias, c) : 0.F;
      biases[c] = static_cast<float>((before - element(mean, from.mean, c)) * factor +
                                     element(shift, from.shift, c));
    }
  }
};

} // namespace

result<folded_weights> fold_norm(const context& home, stream& s, const program_step& step,
                                 std::span<const tensor> all) {
  const auto& norm = *step.norm;
  const auto& weight = all[step.inputs[1]];
  const bool biased = step.inputs.size() == 3;
  const auto bias = biased ? all[step.inputs[2]] : tensor();
  const auto& scale = all[norm.scale];
  const auto& shift = all[norm.shift];
  const auto& mean = all[norm.mean];
  const auto& variance = all[norm.variance];
  const auto& shape = weight.layout().shape;
  auto weight_to = tensor::make(home, tensor_layout::make(element_type::f32, shape).value());
  if (!weight_to) return weight_to.error();
  auto bias_to =
      tensor::make(home, tensor_layout::make(element_type::f32, {shape.front()}).value());
  if (!bias_to) return bias_to.error();
  fold_kernel kernel{{weight.layout(), bias.layout(), scale.layout(), shift.layout(),
                      mean.layout(), variance.layout(), biased, norm.epsilon}};
  auto outcome = s.launch("fold batch_norm", std::move(kernel), weight.bytes(), bias.bytes(),
                          scale.bytes(), shift.bytes(), mean.bytes(), variance.bytes(),
                          weight_to.value().bytes(), bias_to.value().bytes());
  if (!outcome.ok()) return outcome;
  return folded_weights{std::move(weight_to).value(), std::move(bias_to).value()};
}

result<buffer<std::byte>> arrange_weights(const context& home, stream& s, const plan& p,
                                          const tensor& weights) {
  auto how = std::make_shared<const plan>(make_weights_plan(p));
  auto target = home.allocate<std::byte>(how->arguments.back().layout.get_size());
  if (!target) return target;
  buffer<std::byte> spare; // memory that is freed while work uses it is given back after that
  if (how->scratch_bytes != 0) {
    auto got = home.allocate<std::byte>(how->scratch_bytes);
    if (!got) return got;
    spare = std::move(got).value();
  }
  auto outcome = s.launch(
      "arrange weights",
      [how = std::move(how)](bytes_in from, bytes_out to, bytes_out scratch) {
        const std::array input{from.data()};
        execute(*how, input, to.data(), scratch.data());
      },
      weights.bytes(), target.value(), spare);
  if (!outcome.ok()) return outcome;
  return target;
}

} // namespace troupe::operators
