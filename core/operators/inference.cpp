#include "core/operators/inference.hpp"

#include <algorithm>
#include <array>

#include "core/operators/attributes.hpp"
#include "core/operators/shapes.hpp"

namespace troupe {
namespace {

using operators::refuse;

std::string allowed_names(const operator_signature& known) {
  std::string text;
  for (const auto name : known.attributes) text += (text.empty() ? "" : ", ") + std::string(name);
  return text.empty() ? "it has none" : "it has " + text;
}

const operator_signature& signature_of(const operator_description& d) {
  const auto all = operator_signatures();
  const auto at = std::ranges::find(all, std::string_view(d.name), &operator_signature::name);
  if (at == all.end()) refuse(d, "there is none of that name");
  return *at;
}

void check_call(const operator_signature& known, const operator_description& d) {
  const auto count = d.inputs.size();
  if (count < known.inputs_min || count > known.inputs_max) {
    refuse(d, "got " + std::to_string(count) + " inputs; it takes " +
                  std::to_string(known.inputs_min) + " to " + std::to_string(known.inputs_max));
  }
  for (const auto& [name, value] : d.attributes) {
    if (std::ranges::find(known.attributes, std::string_view(name)) == known.attributes.end()) {
      refuse(d, "there is no attribute '" + name + "'; " + allowed_names(known));
    }
  }
}

bool is_whole(element_type type) {
  return type == element_type::s8 || type == element_type::u8 || type == element_type::s32;
}

// Products of small integers are summed in s32.
bool multiplies_integers(const operator_description& d) {
  return (d.name == "matmul" || d.name == "conv2d") && is_whole(d.inputs.front().type);
}

void check_types(const operator_signature& known, const operator_description& d) {
  const bool normalises = d.name == "batch_norm" || d.name == "layer_norm";
  for (std::size_t i = 1; i < d.inputs.size(); ++i) {
    const auto type = d.inputs[i].type;
    const auto first = d.inputs.front().type;
    if (multiplies_integers(d) && type == (i == 1 ? element_type::s8 : element_type::f32)) continue;
    if (type == (normalises ? element_type::f32 : first)) continue;
    const auto name = std::string(known.arguments[std::min(i, known.arguments.size() - 1)]);
    refuse(d, "argument '" + name + "' is " + to_text(d.inputs[i]) + ", which does not fit '" +
                  std::string(known.arguments.front()) + "', " + to_text(d.inputs.front()));
  }
}

// The output lies as that input does which has most to say about it: the first of equal rank whose
// shape is the output's, else the first of equal rank. What rearranges dimensions is row-major.
dimensions lie(const operator_description& d, const dimensions& shape) {
  const bool rearranges = d.name == "matmul" || d.name == "reshape" || d.name == "transpose";
  const tensor_layout* model = nullptr;
  for (const auto& each : d.inputs) {
    if (rearranges || each.shape.size() != shape.size()) continue;
    if (model == nullptr || (each.shape == shape && model->shape != shape)) model = &each;
  }
  return model == nullptr ? row_major(shape) : dense_as(shape, model->shape, model->strides);
}

tensor_layout infer(const operator_description& d) {
  const auto& known = signature_of(d);
  check_call(known, d);
  check_types(known, d);
  const auto type = multiplies_integers(d) ? element_type::s32 : d.inputs.front().type;
  auto shape = known.infer(d);
  auto strides = lie(d, shape);
  return tensor_layout::make(type, std::move(shape), std::move(strides)).value();
}

void check_output(const operator_description& d) {
  if (d.outputs.size() != 1) refuse(d, "has one output, not " + std::to_string(d.outputs.size()));
  const auto wanted = infer(d);
  const auto& given = d.outputs.front();
  const bool free_type = d.name == "cast" || multiplies_integers(d);
  if (given.shape == wanted.shape && (free_type || given.type == wanted.type)) return;
  refuse(d, "argument 'output' is " + to_text(given) + "; from '" +
                std::string(signature_of(d).arguments.front()) + "', " +
                to_text(d.inputs.front()) + ", comes " + to_text(wanted));
}

} // namespace

std::span<const operator_signature> operator_signatures() {
  using namespace operators;
  static const std::vector<operator_signature> table{
      {"add", {"left", "right"}, 2, 2, {}, broadcast_shape},
      {"average_pool", {"input"}, 1, 1, {"kernel", "strides", "padding", "count_padding"},
       pooled_shape},
      {"batch_norm", {"input", "scale", "shift", "mean", "variance"}, 5, 5, {"epsilon"},
       batch_norm_shape},
      {"bias_add", {"input", "bias"}, 2, 2, {"axis"}, biased_shape},
      {"cast", {"input"}, 1, 1, {}, same_shape},
      {"concat", {"input"}, 2, operator_inputs_max, {"axis"}, joined_shape},
      {"conv2d", {"input", "weight", "bias"}, 2, 3, {"strides", "padding", "dilation", "groups"},
       convolved_shape},
      {"div", {"left", "right"}, 2, 2, {}, broadcast_shape},
      {"gelu", {"input"}, 1, 1, {}, same_shape},
      {"layer_norm", {"input", "scale", "shift"}, 3, 3, {"epsilon"}, layer_norm_shape},
      {"matmul", {"left", "right"}, 2, 2, {}, product_shape},
      {"max_pool", {"input"}, 1, 1, {"kernel", "strides", "padding"}, pooled_shape},
      {"mul", {"left", "right"}, 2, 2, {}, broadcast_shape},
      {"reduce_max", {"input"}, 1, 1, {"axes", "keep_dims"}, reduced_shape},
      {"reduce_mean", {"input"}, 1, 1, {"axes", "keep_dims"}, reduced_shape},
      {"reduce_min", {"input"}, 1, 1, {"axes", "keep_dims"}, reduced_shape},
      {"reduce_sum", {"input"}, 1, 1, {"axes", "keep_dims"}, reduced_shape},
      {"relu", {"input"}, 1, 1, {}, same_shape},
      {"reshape", {"input"}, 1, 1, {"shape"}, reshaped_shape},
      {"sigmoid", {"input"}, 1, 1, {}, same_shape},
      {"silu", {"input"}, 1, 1, {}, same_shape},
      {"softmax", {"input"}, 1, 1, {"axis"}, softmax_shape},
      {"sub", {"left", "right"}, 2, 2, {}, broadcast_shape},
      {"tanh", {"input"}, 1, 1, {}, same_shape},
      {"transpose", {"input"}, 1, 1, {"permutation"}, transposed_shape},
  };
  return table;
}

result<tensor_layout> infer_output(const operator_description& description) {
  try {
    return infer(description);
  } catch (const error& refusal) {
    return refusal.outcome();
  }
}

status check_operator(const operator_description& description) {
  try {
    check_output(description);
    return {};
  } catch (const error& refusal) {
    return refusal.outcome();
  }
}

} // namespace troupe
