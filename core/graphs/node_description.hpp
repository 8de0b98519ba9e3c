#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

/// A tensor as a node's description names it: what passes over graphs reason about.
struct tensor_description {
  std::string type;                 ///< "f32", "f16" ...
  std::vector<std::int64_t> shape;  ///< sizes, outermost first
  const void* data = nullptr;       ///< device address of its first element
  bool written = false;
};

/// What a node computes, for passes and exports; the runtime itself does not read it.
struct node_description {
  std::string name;                                            ///< "matmul", "relu" ...
  std::vector<std::pair<std::string, std::string>> attributes; ///< in the order they were given
  std::vector<tensor_description> tensors;
};

} // namespace troupe
