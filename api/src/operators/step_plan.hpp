#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "api/src/operators/plan.hpp"
#include "core/fusion/operator_program.hpp"

namespace troupe::operators {

/// How a step of a program computes: by one primitive that does all of it, or, where oneDNN has no
/// such one, by several, one after the other, whose results between lie in scratch memory.
/// Immutable; many threads may execute one at once, each with scratch memory of its own.
struct step_plan {
  struct part {
    static constexpr int before = -1;                ///< reads what the part before wrote
    static constexpr std::size_t last = SIZE_MAX;    ///< writes the step's output

    std::shared_ptr<const plan> how;
    std::vector<int> inputs;     ///< numbers of the step's inputs, or `before`
    std::size_t output = last;   ///< an offset in the scratch memory, or `last`
    std::size_t scratch = 0;     ///< offset of the part's own scratch memory
  };

  std::vector<part> parts; ///< at least one
  std::size_t scratch_bytes = 0;
};

/// A step whose tensors have been numbered anew, in the order of `launch_reads`: those of the
/// operator first, so that input i of it is number i, then those of its posts.
struct numbered_step {
  program_step step; ///< without `norm`, which has been folded
  std::vector<tensor_layout> inputs;
  bool constant_weights = false; ///< input 1 of a matmul or conv2d may be rearranged once
};

/// Throws `dnnl::error` when oneDNN cannot compute a part of it in whatever way. The first part has
/// `plain_weights` if constant weights are to be rearranged.
[[nodiscard]] step_plan make_step_plan(const numbered_step& s);

/// As `execute` of a plan.
void execute(const step_plan& p, std::span<const std::byte* const> inputs, std::byte* output,
             std::byte* scratch);

} // namespace troupe::operators
