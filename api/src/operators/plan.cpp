#include "api/src/operators/plan.hpp"

#include <algorithm>
#include <array>

#include "api/src/operators/one_thread.hpp"
#include "core/operators/attributes.hpp"
#include "core/operators/shapes.hpp"

namespace troupe::operators {
namespace {

using desc = dnnl::memory::desc;
using dnnl::algorithm;
constexpr auto inference = dnnl::prop_kind::forward_inference;

dnnl::memory::data_type type_of(element_type type) {
  using kind = dnnl::memory::data_type;
  constexpr std::array table{kind::f32, kind::f16, kind::bf16, kind::s32, kind::s8, kind::u8};
  return table.at(static_cast<std::size_t>(type));
}

desc place(element_type type, const dimensions& shape, const dimensions& strides) {
  return {shape, type_of(type), strides};
}

desc place(const tensor_layout& of) { return place(of.type, of.shape, of.strides); }

// With ones in front, so that it has `rank` dimensions.
desc padded(const tensor_layout& of, std::size_t rank) {
  auto shape = of.shape;
  auto strides = of.strides;
  const auto reach = strides.front() * shape.front();
  shape.insert(shape.begin(), rank - shape.size(), 1);
  strides.insert(strides.begin(), rank - strides.size(), reach);
  return place(of.type, shape, strides);
}

dnnl::primitive_attr caller_scratch() {
  dnnl::primitive_attr made;
  made.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return made;
}

// What `d` asks for besides its operator, as oneDNN wants it.
dnnl::primitive_attr attributes_of(const plan_request& d) {
  auto made = caller_scratch();
  if (d.posts.empty()) return made;
  dnnl::post_ops all;
  for (const auto& each : d.posts) {
    if (each.second) {
      all.append_binary(each.what, padded(each.second->layout, d.outputs[0].shape.size()));
    } else {
      all.append_eltwise(1.F, each.what, each.alpha, 0.F);
    }
  }
  made.set_post_ops(all);
  return made;
}

template <class Primitive, class Operation>
plan finish(const plan_request& d, const Operation& operation,
            std::vector<plan::argument> arguments) {
  const typename Primitive::primitive_desc chosen(operation, attributes_of(d), cpu());
  if (d.compiled_only && std::string_view(chosen.impl_info_str()).starts_with("ref")) {
    throw dnnl::error(dnnl_unimplemented, "it has no fast way");
  }
  for (std::size_t i = 0; i < d.posts.size(); ++i) {
    const auto& second = d.posts[i].second;
    if (!second) continue;
    arguments.push_back({DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(i)) | DNNL_ARG_SRC_1,
                         second->input, padded(second->layout, d.outputs[0].shape.size())});
  }
  desc plain;
  for (auto& each : arguments) {
    if (!d.free_weights || each.id != DNNL_ARG_WEIGHTS) continue;
    const auto wanted = chosen.query_md(dnnl::query::weights_md, 0);
    if (wanted != each.layout) plain = std::exchange(each.layout, wanted);
  }
  const auto scratch = chosen.scratchpad_desc();
  return {Primitive(chosen), std::move(arguments), scratch, scratch.get_size(), {}, plain};
}

// Weights as they lie, or as oneDNN likes them best.
desc weights_for(const plan_request& d, const desc& weights) {
  if (!d.free_weights) return weights;
  return {weights.dims(), weights.data_type(), dnnl::memory::format_tag::any};
}

plan reorder(const desc& from, const desc& to) {
  const dnnl::reorder::primitive_desc chosen(cpu(), from, cpu(), to, caller_scratch());
  return {dnnl::reorder(chosen),
          {{DNNL_ARG_FROM, 0, from}, {DNNL_ARG_TO, plan::output, to}},
          chosen.scratchpad_desc(),
          chosen.scratchpad_desc().get_size()};
}

plan plan_binary(const plan_request& d, algorithm what) {
  const auto out = place(d.outputs[0]);
  const auto rank = d.outputs[0].shape.size();
  const auto left = padded(d.inputs[0], rank);
  const auto right = padded(d.inputs[1], rank);
  return finish<dnnl::binary>(
      d, dnnl::binary::desc(what, left, right, out),
      {{DNNL_ARG_SRC_0, 0, left}, {DNNL_ARG_SRC_1, 1, right}, {DNNL_ARG_DST, plan::output, out}});
}

plan plan_bias(const plan_request& d) {
  const auto in = place(d.inputs[0]);
  const auto out = place(d.outputs[0]);
  const auto rank = d.inputs[0].shape.size();
  dimensions shape(rank, 1);
  const auto axis = axis_of(d, "axis", whole(d, "axis", rank > 1 ? 1 : 0));
  shape[axis] = d.inputs[1].shape[0];
  const auto bias = place(d.inputs[1].type, shape, row_major(shape));
  return finish<dnnl::binary>(
      d, dnnl::binary::desc(algorithm::binary_add, in, bias, out),
      {{DNNL_ARG_SRC_0, 0, in}, {DNNL_ARG_SRC_1, 1, bias}, {DNNL_ARG_DST, plan::output, out}});
}

plan plan_unary(const plan_request& d, algorithm what, float alpha) {
  const auto in = place(d.inputs[0]);
  const auto out = place(d.outputs[0]);
  if (in != out) throw dnnl::error(dnnl_unimplemented, "its output lies in another way");
  return finish<dnnl::eltwise_forward>(
      d, dnnl::eltwise_forward::desc(inference, what, in, alpha),
      {{DNNL_ARG_SRC, 0, in}, {DNNL_ARG_DST, plan::output, out}});
}

plan plan_conv2d(const plan_request& d) {
  const auto w = window_of(d);
  const auto in = place(d.inputs[0]);
  const auto out = place(d.outputs[0]);
  auto shape = d.inputs[1].shape;
  auto strides = d.inputs[1].strides;
  const auto groups = whole(d, "groups", 1);
  if (groups > 1) {
    shape[0] /= groups;
    shape.insert(shape.begin(), groups);
    strides.insert(strides.begin(), strides[0] * shape[1]);
  }
  const auto weight = place(d.inputs[1].type, shape, strides);
  const bool biased = d.inputs.size() == 3;
  const auto bias = biased ? place(d.inputs[2]) : desc();
  const dimensions dilation{w.dilation[0] - 1, w.dilation[1] - 1};
  const dimensions before{w.padding[0], w.padding[1]};
  const dimensions after{w.padding[2], w.padding[3]};
  std::vector<plan::argument> arguments{
      {DNNL_ARG_SRC, 0, in}, {DNNL_ARG_WEIGHTS, 1, weight}, {DNNL_ARG_DST, plan::output, out}};
  if (biased) arguments.push_back({DNNL_ARG_BIAS, 2, bias});
  return finish<dnnl::convolution_forward>(
      d,
      dnnl::convolution_forward::desc(inference, algorithm::convolution_direct, in,
                                      weights_for(d, weight), bias, out, w.strides, dilation,
                                      before, after),
      std::move(arguments));
}

plan plan_pool(const plan_request& d, algorithm what) {
  const auto w = window_of(d);
  const auto in = place(d.inputs[0]);
  const auto out = place(d.outputs[0]);
  const dimensions before{w.padding[0], w.padding[1]};
  const dimensions after{w.padding[2], w.padding[3]};
  return finish<dnnl::pooling_forward>(
      d, dnnl::pooling_forward::desc(inference, what, in, out, w.strides, w.kernel, before, after),
      {{DNNL_ARG_SRC, 0, in}, {DNNL_ARG_DST, plan::output, out}});
}

plan plan_average_pool(const plan_request& d) {
  return plan_pool(d, whole(d, "count_padding", 0) != 0
                          ? algorithm::pooling_avg_include_padding
                          : algorithm::pooling_avg_exclude_padding);
}

plan plan_matmul(const plan_request& d) {
  const auto left = place(d.inputs[0]);
  const auto right = place(d.inputs[1]);
  const auto out = place(d.outputs[0]);
  std::vector<plan::argument> arguments{
      {DNNL_ARG_SRC, 0, left}, {DNNL_ARG_WEIGHTS, 1, right}, {DNNL_ARG_DST, plan::output, out}};
  const bool biased = d.inputs.size() == 3; // of fused ones
  const auto bias = biased ? padded(d.inputs[2], d.outputs[0].shape.size()) : desc();
  if (biased) arguments.push_back({DNNL_ARG_BIAS, 2, bias});
  return finish<dnnl::matmul>(
      d, dnnl::matmul::desc(left, weights_for(d, right), bias, out), std::move(arguments));
}

plan plan_batch_norm(const plan_request& d) {
  using flags = dnnl::normalization_flags;
  const auto in = place(d.inputs[0]);
  if (in != place(d.outputs[0])) {
    throw dnnl::error(dnnl_unimplemented, "its output lies in another way");
  }
  return finish<dnnl::batch_normalization_forward>(
      d, dnnl::batch_normalization_forward::desc(
          inference, in, static_cast<float>(number(d, "epsilon", 1e-5)),
          flags::use_global_stats | flags::use_scale | flags::use_shift),
      {{DNNL_ARG_SRC, 0, in},
       {DNNL_ARG_SCALE, 1, place(d.inputs[1])},
       {DNNL_ARG_SHIFT, 2, place(d.inputs[2])},
       {DNNL_ARG_MEAN, 3, place(d.inputs[3])},
       {DNNL_ARG_VARIANCE, 4, place(d.inputs[4])},
       {DNNL_ARG_DST, plan::output, in}});
}

plan plan_layer_norm(const plan_request& d) {
  using flags = dnnl::normalization_flags;
  const auto in = place(d.inputs[0]);
  if (in != place(d.outputs[0])) {
    throw dnnl::error(dnnl_unimplemented, "its output lies in another way");
  }
  return finish<dnnl::layer_normalization_forward>(
      d, dnnl::layer_normalization_forward::desc(inference, in,
                                              static_cast<float>(number(d, "epsilon", 1e-5)),
                                              flags::use_scale | flags::use_shift),
      {{DNNL_ARG_SRC, 0, in},
       {DNNL_ARG_SCALE, 1, place(d.inputs[1])},
       {DNNL_ARG_SHIFT, 2, place(d.inputs[2])},
       {DNNL_ARG_DST, plan::output, in}});
}

plan plan_softmax(const plan_request& d) {
  const auto in = place(d.inputs[0]);
  if (in != place(d.outputs[0])) {
    throw dnnl::error(dnnl_unimplemented, "its output lies in another way");
  }
  const auto axis = static_cast<int>(axis_of(d, "axis", whole(d, "axis", -1)));
  return finish<dnnl::softmax_forward>(
      d, dnnl::softmax_forward::desc(inference, in, axis),
                                       {{DNNL_ARG_SRC, 0, in}, {DNNL_ARG_DST, plan::output, in}});
}

plan plan_reduce(const plan_request& d, algorithm what) {
  const auto& given = d.outputs[0];
  const auto reduced = reduced_axes(d);
  const bool keep = given.shape.size() == reduced.size();
  dimensions shape = d.inputs[0].shape;
  dimensions strides(shape.size(), 1);
  std::size_t next = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (reduced[i]) shape[i] = 1;
    if (keep || !reduced[i]) strides[i] = given.strides[next++];
  }
  const auto in = place(d.inputs[0]);
  const auto out = place(given.type, shape, strides);
  if (shape == d.inputs[0].shape) return reorder(in, out);
  return finish<dnnl::reduction>(
      d, dnnl::reduction::desc(what, in, out, 0.F, 0.F),
                                 {{DNNL_ARG_SRC, 0, in}, {DNNL_ARG_DST, plan::output, out}});
}

plan plan_transpose(const plan_request& d) {
  const auto& in = d.inputs[0];
  dimensions strides;
  for (const auto from : list(d, "permutation")) {
    strides.push_back(in.strides[static_cast<std::size_t>(from)]);
  }
  return reorder(place(in.type, d.outputs[0].shape, strides), place(d.outputs[0]));
}

plan plan_reshape(const plan_request& d) {
  if (!d.outputs[0].is_row_major()) {
    throw dnnl::error(dnnl_unimplemented, "its output must be row-major");
  }
  const auto& in = d.inputs[0];
  return reorder(place(in), place(d.outputs[0].type, in.shape, row_major(in.shape)));
}

plan plan_concat(const plan_request& d) {
  std::vector<desc> parts;
  std::vector<plan::argument> arguments;
  for (const auto& each : d.inputs) {
    const auto index = static_cast<int>(parts.size());
    parts.push_back(place(each));
    arguments.push_back({DNNL_ARG_MULTIPLE_SRC + index, index, parts.back()});
  }
  const auto out = place(d.outputs[0]);
  arguments.push_back({DNNL_ARG_DST, plan::output, out});
  const auto axis = static_cast<int>(axis_of(d, "axis", whole(d, "axis", 0)));
  const dnnl::concat::primitive_desc chosen(out, axis, parts, cpu(), caller_scratch());
  const auto scratch = chosen.scratchpad_desc();
  return {dnnl::concat(chosen), std::move(arguments), scratch, scratch.get_size()};
}

// The operators that differ by oneDNN's algorithm only.
struct variant_row {
  std::string_view name;
  plan (*make)(const plan_request&, algorithm);
  algorithm what;
};

plan plan_plain_unary(const plan_request& d, algorithm what) {
  return plan_unary(d, what, 0.F);
}

// x * sigmoid(alpha * x).
plan plan_silu(const plan_request& d, algorithm what) { return plan_unary(d, what, 1.F); }

constexpr std::array variants{
    variant_row{"add", plan_binary, algorithm::binary_add},
    variant_row{"div", plan_binary, algorithm::binary_div},
    variant_row{"gelu", plan_plain_unary, algorithm::eltwise_gelu_erf},
    variant_row{"max_pool", plan_pool, algorithm::pooling_max},
    variant_row{"mul", plan_binary, algorithm::binary_mul},
    variant_row{"reduce_max", plan_reduce, algorithm::reduction_max},
    variant_row{"reduce_mean", plan_reduce, algorithm::reduction_mean},
    variant_row{"reduce_min", plan_reduce, algorithm::reduction_min},
    variant_row{"reduce_sum", plan_reduce, algorithm::reduction_sum},
    variant_row{"relu", plan_plain_unary, algorithm::eltwise_relu},
    variant_row{"sigmoid", plan_plain_unary, algorithm::eltwise_logistic},
    variant_row{"silu", plan_silu, algorithm::eltwise_swish},
    variant_row{"sub", plan_binary, algorithm::binary_sub},
    variant_row{"tanh", plan_plain_unary, algorithm::eltwise_tanh}};

struct single_row {
  std::string_view name;
  plan (*make)(const plan_request&);
};

constexpr std::array singles{
    single_row{"average_pool", plan_average_pool}, single_row{"batch_norm", plan_batch_norm},
    single_row{"bias_add", plan_bias},             single_row{"concat", plan_concat},
    single_row{"conv2d", plan_conv2d},             single_row{"layer_norm", plan_layer_norm},
    single_row{"matmul", plan_matmul},             single_row{"reshape", plan_reshape},
    single_row{"softmax", plan_softmax},           single_row{"transpose", plan_transpose}};

} // namespace

plan make_direct_plan(const plan_request& d) {
  const one_thread alone;
  const std::string_view name = d.name;
  if (const auto at = std::ranges::find(variants, name, &variant_row::name);
      at != variants.end()) {
    return at->make(d, at->what);
  }
  if (const auto at = std::ranges::find(singles, name, &single_row::name); at != singles.end()) {
    return at->make(d);
  }
  return reorder(place(d.inputs[0]), place(d.outputs[0])); // cast
}

plan make_weights_plan(const plan& p) {
  const one_thread alone;
  const auto at = std::ranges::find(p.arguments, DNNL_ARG_WEIGHTS, &plan::argument::id);
  return reorder(p.plain_weights, at->layout);
}

} // namespace troupe::operators
