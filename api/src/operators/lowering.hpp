#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/src/operators/step_plan.hpp"
#include "core/operators/inference.hpp"
#include "troupe/graph.hpp"
#include "troupe/operators/executable_operators.hpp"

/// From a program of operators to a graph of kernels.
namespace troupe::operators {

/// What a node of the graph runs.
struct step_kernel {
  using bytes_in = std::span<const std::byte>;
  std::shared_ptr<const step_plan> how;

  void operator()(bytes_in a, bytes_in b, bytes_in c, bytes_in d, bytes_in e, bytes_in f,
                  bytes_in g, bytes_in h, std::span<std::byte> out,
                  std::span<std::byte> spare) const;
};

/// A step with the memory it uses.
struct lowered_step {
  static constexpr std::uint32_t none = UINT32_MAX;
  struct argument {
    std::uint32_t tensor = none;   ///< its place in the program, or
    device_span<std::byte> place;  ///< memory of its own
  };

  std::shared_ptr<const step_plan> how;
  std::vector<argument> inputs;
  std::uint32_t output = 0;
  device_span<std::byte> scratch;
  kernel_node<step_kernel> node; ///< once it is in a graph

  [[nodiscard]] bool names(std::uint32_t tensor) const;
};

struct lowered_graph {
  operator_program program;
  std::vector<tensor> bound;                      ///< by place; empty: between operators
  std::vector<device_span<std::byte>> between;    ///< by place: where those lie
  std::vector<buffer<std::byte>> owned;           ///< the block, and constants brought in order
  std::vector<tensor> folded;
  std::vector<lowered_step> steps;
};

/// Prepares all steps, has constants brought in order and waits for that, and places what lies
/// between. Adds to `report` what became of the steps. Failures: see `instantiate`.
[[nodiscard]] result<lowered_graph> lower(const context& home, const operator_graph& g,
                                          operator_program program,
                                          operator_graph_report& report);

/// One kernel for each step, each behind those that write what it reads. Notes the nodes in `all`.
[[nodiscard]] result<graph> as_graph(const std::string& name, lowered_graph& all);

/// Inputs, output and scratch memory of a step as the arguments of its kernel.
[[nodiscard]] std::array<device_span<std::byte>, operator_inputs_max + 2> arguments_of(
    const lowered_step& step, const lowered_graph& all);

/// 107000 for an output whose memory another tensor has as well.
[[nodiscard]] status check_overlaps(const std::string& name, const lowered_graph& all);

} // namespace troupe::operators
