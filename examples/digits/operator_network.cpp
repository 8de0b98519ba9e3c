#include "examples/digits/operator_network.hpp"

#include <cstdint>
#include <utility>

#include <gsl/gsl>

#include "examples/digits/digits_data.hpp"

namespace troupe::digits {

namespace {

using shape = std::vector<std::uint32_t>;

tensor_layout images_of(std::size_t batch) {
  constexpr auto side = std::int64_t{image_side};
  return tensor_layout::channels_last(element_type::f32,
                                      {gsl::narrow<std::int64_t>(batch), 1, side, side})
      .value();
}

tensor put(const context& home, const network& net, const char* name, const shape& wanted) {
  const auto values = net.plain_weights().get(name, wanted);
  auto layout = tensor_layout::make(element_type::f32, {wanted.begin(), wanted.end()}, {},
                                    tensor_lifetime::persistent);
  auto made = tensor::make(home, std::move(layout).value()).value();
  home.copy(made.elements<float>(), values).or_throw();
  return made;
}

} // namespace

operator_network::operator_network(const context& home, const network& net)
    : batch_(net.batch()) {
  struct weight {
    const char* name;
    shape dims;
  };
  for (const auto& [name, dims] :
       {weight{"conv1.weight", {8, 1, 5, 5}}, weight{"conv1.bias", {8}},
        weight{"conv2.weight", {16, 8, 5, 5}}, weight{"conv2.bias", {16}},
        weight{"dense1.weight", {784, 64}}, weight{"dense1.bias", {64}},
        weight{"dense2.weight", {64, 10}}, weight{"dense2.bias", {10}}}) {
    weights_.push_back(put(home, net, name, dims));
  }
  for (const std::size_t first : {0U, 2U}) {
    rows_.push_back({{"conv2d", {{"padding", dimensions{2, 2}}}, {}, {}}, {first}});
    rows_.push_back({{"bias_add", {}, {}, {}}, {first + 1}});
    rows_.push_back({{"relu", {}, {}, {}}, {}});
    rows_.push_back({{"max_pool", {{"kernel", dimensions{2, 2}}}, {}, {}}, {}});
  }
  // Images lie with their channels last; this brings them into the order that dense1 was trained on.
  rows_.push_back({{"reshape", {{"shape", dimensions{-1, 784}}}, {}, {}}, {}});
  rows_.push_back({{"matmul", {}, {}, {}}, {4}});
  rows_.push_back({{"bias_add", {}, {}, {}}, {5}});
  rows_.push_back({{"relu", {}, {}, {}}, {}});
  rows_.push_back({{"matmul", {}, {}, {}}, {6}});
  rows_.push_back({{"bias_add", {}, {}, {}}, {7}});
  rows_.push_back({{"softmax", {}, {}, {}}, {}});
}

tensor operator_network::make_images(const context& home) const {
  return tensor::make(home, images_of(batch_)).value();
}

tensor operator_network::make_probabilities(const context& home) const {
  const auto rows = gsl::narrow<std::int64_t>(batch_);
  return tensor::make(home, tensor_layout::make(element_type::f32,
                                                {rows, std::int64_t{class_count}})
                                .value())
      .value();
}

graph_batch::graph_batch(const context& home, const operator_network& net)
    : images(net.make_images(home)), probabilities(net.make_probabilities(home)) {
  operator_graph g("digits");
  std::vector<operand> weights;
  for (const auto& each : net.weights()) weights.push_back(g.constant(each).value());
  auto value = g.input(images).value();
  for (const auto& row : net.rows()) {
    std::vector<operand> inputs{value};
    for (const auto each : row.weights) inputs.push_back(weights[each]);
    value = g.apply(row.what, inputs).value();
  }
  g.output(value, probabilities).or_throw();
  run = executable_operators::instantiate(home, g).value();
}

} // namespace troupe::digits
