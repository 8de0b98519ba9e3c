#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/operators/operator_description.hpp"
#include "core/status.hpp"

namespace troupe {

/// What is done to each element of an operator's result before it is written.
struct post_operation {
  std::string name;                    ///< "add", "bias_add", "relu", "cast" ...
  std::optional<std::uint32_t> second; ///< the tensor beside the result, of those that have two
  bool reversed = false;               ///< the result is the right one of the two (sub, div)
  std::int64_t axis = 0;               ///< of bias_add, from the front
  element_type type = element_type::f32; ///< what it gives

  friend bool operator==(const post_operation&, const post_operation&) = default;
};

/// Constants of a convolution that takes in a batch normalisation: its weight and bias are to be
/// multiplied by scale / sqrt(variance + epsilon) for each output channel, and the bias is then
/// (bias - mean) times that, plus shift.
struct folded_norm {
  std::uint32_t scale, shift, mean, variance; ///< tensors
  double epsilon = 1e-5;

  friend bool operator==(const folded_norm&, const folded_norm&) = default;
};

/// One operator of a program; tensors are known by their place in it.
struct program_step {
  operator_description what; ///< with the layouts of inputs and output before any `posts`
  std::vector<std::uint32_t> inputs;
  std::uint32_t output = 0;
  std::optional<folded_norm> norm;   ///< of conv2d; applied before `posts`
  std::vector<post_operation> posts; ///< in order, to what `what` computes

  friend bool operator==(const program_step&, const program_step&) = default;
};

/// All tensors that `step` reads, as often as it names them: of the operator, the constants folded
/// into it, and those of its `posts`, in this order.
[[nodiscard]] std::vector<std::uint32_t> reads_of(const program_step& step);

/// What is left of these when it runs: a folded norm has become the weight and a bias, 1 and 2.
[[nodiscard]] std::vector<std::uint32_t> launch_reads(const program_step& step);

/// The operator and what is done to its result, as "matmul+bias_add+relu".
[[nodiscard]] std::string name_of(const program_step& step);

struct program_tensor {
  tensor_layout layout;
  bool constant = false; ///< known when the program is made ready: weights
  bool kept = false;     ///< read from outside afterwards: never fused away
};

/// Operators in an order in which they may run, each tensor written by at most one. A value.
struct operator_program {
  std::vector<program_tensor> tensors;
  std::vector<program_step> steps;

  /// Adds a tensor and returns its place.
  std::uint32_t add(program_tensor tensor);

  /// Adds an operator and returns the place of its output, whose layout is inferred; `output` is
  /// its type if it is another than that (cast). Failures: those of `infer_output`; 107000 for a
  /// tensor that is not there.
  result<std::uint32_t> call(std::string name, std::vector<std::uint32_t> inputs,
                             decltype(operator_description::attributes) attributes = {},
                             std::optional<element_type> output = std::nullopt);
};

} // namespace troupe
