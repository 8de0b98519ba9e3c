#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/graphs/graph_ir.hpp"

namespace troupe {

/// The cost of a node's work in nanoseconds; negative for unknown.
using node_cost = std::function<std::int64_t(const graph_node& node)>;

/// The graph in the DOT language, sub-graphs as clusters. `cost` may be empty.
[[nodiscard]] std::string to_dot(const graph_ir& graph, const node_cost& cost = {});

/// The graph as a JSON object: `name`, `nodes` (each with `id`, `name`, `kind`, `after`, where
/// they apply `command`, `blocks`, `cost_ns`, `times`, `operator`, `body`). `cost` may be empty.
[[nodiscard]] std::string to_json(const graph_ir& graph, const node_cost& cost = {});

} // namespace troupe
