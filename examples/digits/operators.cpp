#include "examples/digits/operators.hpp"

#include <algorithm>
#include <gsl/gsl>

namespace troupe::digits {

namespace {

using desc = dnnl::memory::desc;
using tag = dnnl::memory::format_tag;

constexpr auto f32 = dnnl::memory::data_type::f32;
constexpr auto inference = dnnl::prop_kind::forward_inference;

desc matrix(std::int64_t rows, std::int64_t columns) {
  return {{rows, columns}, f32, tag::ab};
}

/// oneDNN names the dimensions in NCHW order, whatever the layout.
desc images(const image_shape& shape) {
  return {{shape.batch, shape.channels, shape.height, shape.width}, f32, tag::nhwc};
}

/// With scratch memory passed at each call, one primitive can serve several threads at once.
dnnl::primitive_attr caller_scratch() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

primitive_call conv2d_call(const image_shape& input, std::int64_t out_channels,
                           std::int64_t kernel) {
  Expects(kernel % 2 == 1);
  auto output = input;
  output.channels = out_channels;
  // Layout `any` lets oneDNN choose how it wants the weights; prepare_weight brings them there.
  const desc weight{{out_channels, input.channels, kernel, kernel}, f32, tag::any};
  const dnnl::memory::dims stride{1, 1};
  const dnnl::memory::dims pad{kernel / 2, kernel / 2};
  const dnnl::convolution_forward::desc operation{
    inference, dnnl::algorithm::convolution_direct, images(input), weight, images(output),
    stride,    pad,                                 pad};
  const dnnl::convolution_forward::primitive_desc plan{operation, caller_scratch(), cpu_engine()};
  return {dnnl::convolution_forward{plan},
          {DNNL_ARG_SRC, plan.src_desc()},
          {{DNNL_ARG_WEIGHTS, plan.weights_desc()}},
          {DNNL_ARG_DST, plan.dst_desc()},
          plan.scratchpad_desc()};
}

primitive_call bias_call(const image_shape& shape) {
  const auto row = shape.width * shape.channels;
  const auto tensor = matrix(shape.batch * shape.height, row);
  const auto weight = matrix(1, row);
  const dnnl::binary::desc operation{dnnl::algorithm::binary_add, tensor, weight, tensor};
  const dnnl::binary::primitive_desc plan{operation, caller_scratch(), cpu_engine()};
  return {dnnl::binary{plan},
          {DNNL_ARG_SRC_0, tensor},
          {{DNNL_ARG_SRC_1, weight}},
          {DNNL_ARG_DST, tensor},
          plan.scratchpad_desc()};
}

primitive_call relu_call(std::int64_t count) {
  const auto tensor = matrix(1, count);
  const dnnl::eltwise_forward::desc operation{inference, dnnl::algorithm::eltwise_relu, tensor,
                                              0.0F};
  const dnnl::eltwise_forward::primitive_desc plan{operation, caller_scratch(), cpu_engine()};
  return {dnnl::eltwise_forward{plan},
          {DNNL_ARG_SRC, tensor},
          {},
          {DNNL_ARG_DST, tensor},
          plan.scratchpad_desc()};
}

primitive_call max_pool_call(const image_shape& input) {
  Expects(input.height % 2 == 0 && input.width % 2 == 0);
  auto output = input;
  output.height /= 2;
  output.width /= 2;
  const dnnl::memory::dims square{2, 2};
  const dnnl::memory::dims pad{0, 0};
  const dnnl::pooling_forward::desc operation{
    inference, dnnl::algorithm::pooling_max, images(input), images(output), square, square, pad,
    pad};
  const dnnl::pooling_forward::primitive_desc plan{operation, caller_scratch(), cpu_engine()};
  return {dnnl::pooling_forward{plan},
          {DNNL_ARG_SRC, images(input)},
          {},
          {DNNL_ARG_DST, images(output)},
          plan.scratchpad_desc()};
}

primitive_call matmul_call(std::int64_t rows, std::int64_t in, std::int64_t out) {
  // Plain weights: here the layout that oneDNN would choose is not faster.
  const dnnl::matmul::desc operation{matrix(rows, in), matrix(in, out), matrix(rows, out)};
  const dnnl::matmul::primitive_desc plan{operation, caller_scratch(), cpu_engine()};
  return {dnnl::matmul{plan},
          {DNNL_ARG_SRC, plan.src_desc()},
          {{DNNL_ARG_WEIGHTS, plan.weights_desc()}},
          {DNNL_ARG_DST, plan.dst_desc()},
          plan.scratchpad_desc()};
}

primitive_call softmax_call(std::int64_t rows, std::int64_t classes) {
  const auto tensor = matrix(rows, classes);
  const dnnl::softmax_forward::desc operation{inference, tensor, 1};
  const dnnl::softmax_forward::primitive_desc plan{operation, caller_scratch(), cpu_engine()};
  return {dnnl::softmax_forward{plan},
          {DNNL_ARG_SRC, tensor},
          {},
          {DNNL_ARG_DST, tensor},
          plan.scratchpad_desc()};
}

}  // namespace

conv2d::conv2d(const image_shape& input, std::int64_t out_channels, std::int64_t kernel)
  : tensor_operator(conv2d_call(input, out_channels, kernel)) {
}

std::vector<float> conv2d::prepare_weight(std::size_t index, std::span<const float> plain) const {
  const auto& layout = weight_layout(index);
  const desc plain_layout{layout.dims(), f32, tag::oihw};
  Expects(plain.size_bytes() == plain_layout.get_size());
  std::vector<float> prepared(weight_floats(index));
  dnnl::memory from{plain_layout, cpu_engine(), const_cast<float*>(plain.data())};
  dnnl::memory to{layout, cpu_engine(), prepared.data()};
  dnnl::stream stream{cpu_engine()};
  dnnl::reorder{from, to}.execute(stream, from, to);
  stream.wait();
  return prepared;
}

bias::bias(const image_shape& shape)
  : tensor_operator(bias_call(shape)), channels_(gsl::narrow<std::size_t>(shape.channels)) {
}

std::vector<float> bias::prepare_weight(std::size_t index, std::span<const float> plain) const {
  Expects(plain.size() == channels_);
  std::vector<float> row(weight_floats(index));
  for (auto place = row.begin(); place != row.end();)
    place = std::ranges::copy(plain, place).out;
  return row;
}

relu::relu(std::int64_t count) : tensor_operator(relu_call(count)) {
}

max_pool::max_pool(const image_shape& input) : tensor_operator(max_pool_call(input)) {
}

matmul::matmul(std::int64_t rows, std::int64_t in, std::int64_t out)
  : tensor_operator(matmul_call(rows, in, out)) {
}

softmax::softmax(std::int64_t rows, std::int64_t classes)
  : tensor_operator(softmax_call(rows, classes)) {
}

}  // namespace troupe::digits
