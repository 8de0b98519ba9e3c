#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/fusion/operator_program.hpp"

namespace troupe {

/// How far operators are put together: not at all, two at a time, or as far as it goes.
enum class fusion_level : std::uint8_t { none, pairs, full };

struct fusion_options {
  fusion_level level = fusion_level::full;
  bool batch_norm = true;   ///< conv2d + batch_norm, into the weights
  bool matmul = true;       ///< matmul + add or bias_add, and an activation
  bool convolution = true;  ///< conv2d + add or bias_add, and an activation
  bool element_wise = true; ///< chains of element-wise operators; results are equal bit for bit
  bool casts = true;        ///< a cast behind an operator of those chains, or behind another cast
};

/// One thing a pass did, or found and could not do.
struct fusion_note {
  std::string pass;   ///< "batch_norm", "matmul" ...
  std::string first;  ///< the operator that stays, as "conv2d -> t7"
  std::string second; ///< the one that is taken into it
  std::string why_not; ///< empty: done
  std::uint64_t bytes = 0; ///< saved: of the tensor between them, written and read
};

struct fusion_report {
  std::vector<fusion_note> notes;
  std::uint64_t launches = 0; ///< saved
  std::uint64_t bytes = 0;    ///< saved
};

struct fused_program {
  operator_program program;
  fusion_report report;
};

/// The program with operators put together, which computes the same: bit for bit where only
/// element-wise operators and casts are, else but for rounding. Tensors keep their places; those
/// that are gone are written by no step. Two operators are put together only if nobody else reads
/// the tensor between them, it is not kept, and shapes and types fit. Pure; any thread.
[[nodiscard]] fused_program fuse(operator_program program, const fusion_options& options = {});

} // namespace troupe
