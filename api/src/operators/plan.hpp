#pragma once

#include <span>
#include <vector>

#include <dnnl.hpp>

#include "core/operators/operator_description.hpp"

namespace troupe::operators {

/// The processor as oneDNN sees it.
[[nodiscard]] const dnnl::engine& cpu();

/// A oneDNN primitive with the arguments it takes. Immutable: many threads may execute one at once,
/// each with scratch memory of its own.
struct plan {
  static constexpr int output = -1;

  struct argument {
    int id;     ///< DNNL_ARG_
    int source; ///< number of the input, or `output`
    dnnl::memory::desc layout;
  };

  dnnl::primitive primitive;
  std::vector<argument> arguments;
  dnnl::memory::desc scratch;
};

/// The plan of a description that `check_operator` has passed. Throws `dnnl::error` when oneDNN has
/// no such primitive.
[[nodiscard]] plan make_plan(const operator_description& d);

/// Computes on the calling thread alone, and returns when that is done.
void execute(const plan& p, std::span<const std::byte* const> inputs, std::byte* output,
             std::byte* scratch);

} // namespace troupe::operators
