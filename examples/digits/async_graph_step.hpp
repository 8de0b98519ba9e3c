#pragma once

#include <optional>
#include <vector>

#include "examples/digits/classification.hpp"
#include "examples/digits/operator_network.hpp"
#include "examples/digits/pipeline_step.hpp"

namespace troupe::digits {

/// The asynchronous pipeline over fused graphs: a bounded number of buffer sets is in flight, each
/// with pinned host memory and a graph of its own. A batch is a copy, a replay and a copy.
class async_graph_step : public pipeline_step {
public:
  explicit async_graph_step(const workshop& shop);

  answers run(const image_set& images) override;

  [[nodiscard]] savings saved() const override;

private:
  /// All that a batch in flight needs.
  struct buffer_set {
    stream commands; ///< shared with other sets when there are more sets than streams
    event done;
    host_buffer<float> input;
    host_buffer<float> output;
    graph_batch graph;
    std::optional<std::size_t> batch;
  };

  /// Submits copy in, replay and copy out of the set's next batch; returns at once.
  static void submit(buffer_set& set);

  /// Waits for the set's batch, if it has one, and takes its answers.
  static void collect(buffer_set& set, classification& result);

  context context_;
  operator_network net_;
  std::vector<buffer_set> sets_;
};

} // namespace troupe::digits
