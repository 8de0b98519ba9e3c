#pragma once

#include <span>
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
};

/// The plan of a description that `check_operator` has passed. Throws `dnnl::error` when oneDNN has
/// no such primitive, in whatever way the tensors lie.
[[nodiscard]] plan make_plan(const operator_description& d);

/// The same without staging.
[[nodiscard]] plan make_direct_plan(const operator_description& d);

/// Computes on the calling thread alone, and returns when that is done. `scratch` has
/// `scratch_bytes`.
void execute(const plan& p, std::span<const std::byte* const> inputs, std::byte* output,
             std::byte* scratch);

} // namespace troupe::operators
