#pragma once

#include <span>

#include "api/src/operators/plan.hpp"
#include "core/fusion/operator_program.hpp"
#include "troupe/operators/tensor.hpp"
#include "troupe/stream.hpp"

/// What is done to constants once, before an operator graph runs: kernels of `s`, in whose order the
/// results are there.
namespace troupe::operators {

struct folded_weights {
  tensor weight; ///< row-major
  tensor bias;
};

/// A normalisation in the weights of the convolution before it, of whose tensors `all` has one for
/// each place in the program that `step` reads. Computed in double, rounded once.
[[nodiscard]] result<folded_weights> fold_norm(const context& home, stream& s,
                                               const program_step& step,
                                               std::span<const tensor> all);

/// `weights` as the argument of `p` wants them, which has `plain_weights`.
[[nodiscard]] result<buffer<std::byte>> arrange_weights(const context& home, stream& s,
                                                        const plan& p, const tensor& weights);

} // namespace troupe::operators
