#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/call_site.hpp"
#include "core/fusion/fusion.hpp"
#include "troupe/operators/operator_graph.hpp"
#include "troupe/stream.hpp"

namespace troupe {

/// What became of the operators of a graph.
struct operator_graph_report {
  fusion_report passes;            ///< what was put together, what was not and why
  std::size_t operators = 0;       ///< that were described
  std::size_t launches = 0;        ///< that a replay makes
  std::uint64_t private_bytes = 0; ///< for tensors between operators and scratch memory
  std::uint64_t unshared_bytes = 0; ///< what that would be if none were used twice
};

/// One line for each note and one for the sums.
[[nodiscard]] std::string to_text(const operator_graph_report& report);

/// An operator graph made ready to run: its operators put together as far as asked for, each one a
/// node of a graph that is submitted as one command. Results are those of the operators one by one,
/// but for rounding where a pass over products says so (`fusion_options`); constant weights that
/// have been rearranged may also make sums round otherwise.
///
/// A shared handle. Any thread may launch; `update` is not to run beside other calls. It keeps the
/// tensors it names. Calls on an empty one fail with 107017.
class executable_operators {
public:
  executable_operators() noexcept = default;

  /// Prepares it and waits until constants are in place. What lies between operators is in one block
  /// of memory of its own, in which two tensors share bytes if all who use one come before all who
  /// use the other. Failures: 107000 for a graph without outputs, and for an output that overlaps
  /// another tensor; 207000 when oneDNN does not have one of the operators for its types; those of
  /// `executable_graph::instantiate` and `context::create_stream`.
  [[nodiscard]] static result<executable_operators> instantiate(
      const context& home, const operator_graph& g, const fusion_options& options = {});

  /// Replays it on `target`, as `executable_graph::launch`, with the same failures.
  status launch(const stream& target, call_site site = call_site::here()) const;

  /// From the next launch on the input or output `which` is read from or written to `other`. What
  /// was there before must live until earlier replays have ended. Failures, which change nothing:
  /// 107000 for an operand that is neither, another layout, another context, or an overlap.
  status update(const operand& which, const tensor& other);

  [[nodiscard]] const operator_graph_report& report() const;
  [[nodiscard]] std::uint64_t replays() const;

  /// Its nodes in DOT or JSON, as `graph::to_dot`, each with the operators it stands for.
  [[nodiscard]] std::string to_dot() const;
  [[nodiscard]] std::string to_json() const;

  /// Ends it for all its handles. 107037 while a replay has not ended.
  status destroy() const;

private:
  struct state;
  std::shared_ptr<state> state_;
};

} // namespace troupe
