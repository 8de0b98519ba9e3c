#pragma once

#include <memory>
#include <span>
#include <vector>

#include "api/src/operators/plan_cache.hpp"
#include "troupe/operators/tensor.hpp"

namespace troupe::operators {

/// The layouts of `from`, in place of what was in `target`.
void take_layouts(std::vector<tensor_layout>& target, std::span<const tensor> from);

/// The plan for `what` with these tensors, whose layouts `what` then has. Failures: those of
/// `run_operator` before it asks pool or stream.
[[nodiscard]] result<std::shared_ptr<const plan>> prepare(operator_description& what,
                                                          std::span<const tensor> inputs,
                                                          std::span<const tensor> outputs);

} // namespace troupe::operators
