#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/fusion/fusion.hpp"
#include "core/operators/operator_description.hpp"
#include "troupe/operators/tensor.hpp"

namespace troupe {

/// A tensor of one operator graph: a plain value. A default one is of no graph.
struct operand {
  std::uint64_t graph = 0; ///< id of the graph
  std::uint32_t index = 0; ///< "t" and this in reports
};

/// Operators and the tensors between them, described to be run as one: operators may then be put
/// together, and what lies between them needs no tensors of the user. Nothing runs before it is
/// instantiated (`executable_operators`). A value; one thread at a time.
///
///     operator_graph g("layer");
///     const auto x = g.input(images).value();
///     const auto w = g.constant(weights).value();
///     const auto y = g.apply({"conv2d", {}, {}, {}}, std::array{x, w}).value();
///     const auto z = g.apply({"relu", {}, {}, {}}, std::array{y}).value();
///     g.output(z, result).or_throw();
///     auto run = executable_operators::instantiate(context, g).value();
///     for (...) run.launch(stream).or_throw();
///
/// A refused call leaves the graph as it was.
class operator_graph {
public:
  explicit operator_graph(std::string_view name = "operators");

  /// What `from` holds whenever a replay reads it. 107000 for an empty tensor.
  [[nodiscard]] result<operand> input(const tensor& from);

  /// What `from` holds when the graph is instantiated: work that writes it must have ended by then,
  /// and later changes may be seen or not. Weights given so are brought into the order that oneDNN
  /// likes best, and statistics are folded into them. 107000 for an empty tensor.
  [[nodiscard]] result<operand> constant(const tensor& from);

  /// The output of an operator, laid out as `infer_output` says; `type` is its type if it is another
  /// (of cast). Of `what` name and attributes count. Failures: 107000 for an operand of another
  /// graph, and those of `check_operator`.
  [[nodiscard]] result<operand> apply(operator_description what, std::span<const operand> inputs,
                                      std::optional<element_type> type = std::nullopt);

  /// Replays write `from` to `to`, of the same type, shape and strides. Failures: 107000 for another
  /// layout, for what no operator writes, and for what is written to a tensor already.
  status output(const operand& from, const tensor& to);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }

  /// Its operators as passes see them.
  [[nodiscard]] const operator_program& program() const noexcept { return program_; }

  /// By the tensors' places in the program: those of inputs, constants and outputs, else empty.
  [[nodiscard]] std::span<const tensor> bound() const noexcept { return bound_; }

  /// 107000 naming the operand if it is of another graph.
  [[nodiscard]] status check(const operand& which) const;

private:
  [[nodiscard]] result<operand> given(const tensor& from, bool constant);

  std::string name_;
  std::uint64_t id_;
  operator_program program_;
  std::vector<tensor> bound_;
};

} // namespace troupe
