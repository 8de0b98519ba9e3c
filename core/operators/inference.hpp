#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "core/operators/operator_description.hpp"

namespace troupe {

inline constexpr std::size_t operator_inputs_max = 8;

/// What an operator takes. All have one output, called "output". Any thread.
///
/// | operator | inputs | attributes (default) | output |
/// | --- | --- | --- | --- |
/// | conv2d | input [n, c, h, w], weight [o, c/groups, kh, kw], bias [o] or none | strides ([1, 1]), padding ([0, 0]; or top, left, bottom, right), dilation ([1, 1]), groups (1) | [n, o, h', w'] |
/// | max_pool, average_pool | input [n, c, h, w] | kernel, strides (the kernel), padding; count_padding (0) of average_pool | [n, c, h', w'] |
/// | matmul | left [..., m, k], right [..., k, n] of equal rank | | [..., m, n] |
/// | add, sub, mul, div | left, right; broadcast as in numpy | | the broadcast shape |
/// | bias_add | input, bias [c] | axis (1) | as input |
/// | relu, gelu, silu, sigmoid, tanh | input | | as input |
/// | batch_norm | input [n, c, ...], scale, shift, mean, variance: f32[c] | epsilon (1e-5) | as input |
/// | layer_norm | input, scale, shift: f32[last] | epsilon (1e-5) | as input |
/// | softmax | input | axis (-1) | as input |
/// | reduce_sum, reduce_mean, reduce_max, reduce_min | input | axes (all), keep_dims (1) | the axes become 1, or go |
/// | transpose | input | permutation | dimension i is that of input's permutation[i] |
/// | reshape | input | shape, one of it -1 or none | shape |
/// | concat | 2 to 8 inputs | axis (0) | joined along axis |
/// | cast | input | | as input, of the type that the output has |
struct operator_signature {
  std::string_view name;
  std::vector<std::string_view> arguments; ///< names of the inputs
  std::size_t inputs_min;
  std::size_t inputs_max;
  std::vector<std::string_view> attributes; ///< those it knows
  dimensions (*infer)(const operator_description&);
};

/// All operators by name, in the alphabet's order. Lives for ever.
[[nodiscard]] std::span<const operator_signature> operator_signatures();

/// The temporary output of `description`, whose outputs are ignored. It has the type of the first
/// input; that of matmul and conv2d over s8 or u8 is s32. It has no gaps and its dimensions lie in
/// the order of the input's (channels last stay last); of operators that rearrange dimensions
/// (matmul, reshape, transpose, a reduction that drops some) it is row-major. Failures: 107000,
/// naming the operator, the argument or attribute, and both shapes.
[[nodiscard]] result<tensor_layout> infer_output(const operator_description& description);

/// Whether inputs, attributes and the output of `description` fit each other. The output may have
/// any strides, and for matmul and conv2d over integers, and cast, another type. Failures: 107000.
[[nodiscard]] status check_operator(const operator_description& description);

} // namespace troupe
