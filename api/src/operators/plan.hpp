#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <dnnl.hpp>

#include "core/operators/operator_description.hpp"
#include "core/tensors/strided_copy.hpp"

namespace troupe::operators {

/// The processor as oneDNN sees it.
[[nodiscard]] const dnnl::engine& cpu();

/// A oneDNN primitive with the arguments it takes. Immutable: many threads may execute one at once,
/// each with scratch memory of its own.
struct plan {
  static constexpr int output = -1;
  static constexpr int staged = -2;

  struct argument {
    int id;     ///< DNNL_ARG_
    int source; ///< number of the input, `output`, or `staged`
    dnnl::memory::desc layout;
    std::size_t offset = 0; ///< of what is staged, in the scratch memory
  };

  /// A tensor that the primitive cannot take as it lies is copied: an input before it computes into
  /// scratch memory, the output after it from there.
  struct stage {
    int source; ///< number of the input, or `output`
    std::size_t offset;
    strided_copy copy;
  };

  dnnl::primitive primitive;
  std::vector<argument> arguments;
  dnnl::memory::desc scratch;       ///< what the primitive needs, from the memory's begin
  std::size_t scratch_bytes = 0;    ///< that and what is staged
  std::vector<stage> stages = {};
  dnnl::memory::desc plain_weights = {}; ///< if they are to be brought into the argument's layout

  /// Or what brings input 1 there each time, into the scratch memory at `arranged_offset`.
  std::shared_ptr<const plan> arrange = {};
  std::size_t arranged_offset = 0;
};

/// An operator with what may be asked of its primitive besides.
struct plan_request : operator_description {
  struct operand {
    int input; ///< number of the input that it is
    tensor_layout layout;
  };
  /// What is done to each element of the result before it is written.
  struct post {
    dnnl::algorithm what;
    float alpha = 0;
    std::optional<operand> second = {}; ///< on the right, broadcast to the output
  };

  plan_request(operator_description d) : operator_description(std::move(d)) {}

  std::vector<post> posts;
  bool free_weights = false;  ///< oneDNN chooses how input 1 lies; `make_weights_plan` brings it there
  bool compiled_only = false; ///< not oneDNN's plain loops, which round in another way
};

/// The plan of a description that `check_operator` has passed. Throws `dnnl::error` when oneDNN has
/// no such primitive, in whatever way the tensors lie.
[[nodiscard]] plan make_plan(const operator_description& d);

/// The same without staging. A matmul may have a third input: a bias, broadcast to its output.
[[nodiscard]] plan make_direct_plan(const plan_request& d);

/// Brings plain weights to where `p`, with `plain_weights`, wants them: one input, one output.
[[nodiscard]] plan make_weights_plan(const plan& p);

/// Computes on the calling thread alone, and returns when that is done. `scratch` has
/// `scratch_bytes`.
void execute(const plan& p, std::span<const std::byte* const> inputs, std::byte* output,
             std::byte* scratch);

} // namespace troupe::operators
