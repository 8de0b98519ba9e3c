#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "core/tensors/tensor_layout.hpp"

namespace troupe {

/// A whole number, a number, or one whole number per dimension.
using operator_attribute = std::variant<std::int64_t, double, dimensions>;

/// An operator with all that decides what it computes: its name, its attributes by name, and the
/// layouts of the tensors it reads and writes, in the order of `operator_signature::arguments`. A
/// value that graphs, passes and caches can read; equal descriptions compute the same.
struct operator_description {
  std::string name;
  std::map<std::string, operator_attribute, std::less<>> attributes;
  std::vector<tensor_layout> inputs;
  std::vector<tensor_layout> outputs;

  friend bool operator==(const operator_description&, const operator_description&) = default;
};

/// One line that is equal for equal descriptions, lifetimes aside:
/// "conv2d{strides=[2, 2]}(f32[1, 3, 8, 8], f32[4, 3, 3, 3]) -> f32[1, 4, 3, 3]".
[[nodiscard]] std::string to_text(const operator_description& description);

} // namespace troupe
