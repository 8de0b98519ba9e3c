#pragma once

#include "core/operators/operator_description.hpp"

/// The shape of each operator's output from its inputs and attributes; the rules are those of
/// `operator_signature`. The number of inputs has been checked. Throw as `attributes.hpp` does.
namespace troupe::operators {

[[nodiscard]] dimensions same_shape(const operator_description& d);
[[nodiscard]] dimensions broadcast_shape(const operator_description& d);
[[nodiscard]] dimensions biased_shape(const operator_description& d);
[[nodiscard]] dimensions batch_norm_shape(const operator_description& d);
[[nodiscard]] dimensions layer_norm_shape(const operator_description& d);
[[nodiscard]] dimensions softmax_shape(const operator_description& d);
[[nodiscard]] dimensions convolved_shape(const operator_description& d);
[[nodiscard]] dimensions pooled_shape(const operator_description& d);
[[nodiscard]] dimensions product_shape(const operator_description& d);
[[nodiscard]] dimensions reduced_shape(const operator_description& d);
[[nodiscard]] dimensions transposed_shape(const operator_description& d);
[[nodiscard]] dimensions reshaped_shape(const operator_description& d);
[[nodiscard]] dimensions joined_shape(const operator_description& d);

} // namespace troupe::operators
