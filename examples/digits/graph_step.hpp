#pragma once

#include <optional>
#include <vector>

#include "examples/digits/classification.hpp"
#include "examples/digits/operator_network.hpp"
#include "examples/digits/pipeline_step.hpp"

namespace troupe::digits {

/// The network as a fused graph: batches go round several streams as in `stream_step`, but each is
/// one replay, of fewer kernels, and what lies between these needs no allocation. Copies make the
/// host wait.
class graph_step : public pipeline_step {
public:
  explicit graph_step(const workshop& shop);

  answers run(const image_set& images) override;

  [[nodiscard]] savings saved() const override;

private:
  /// A stream with the batch it works on.
  struct lane {
    stream commands;
    graph_batch graph;
    std::vector<float> input;
    std::vector<float> output;
    std::optional<std::size_t> batch;
  };

  /// Waits for the lane's batch, if it has one, and takes its answers.
  static void collect(lane& from, classification& result);

  context context_;
  operator_network net_;
  std::vector<lane> lanes_;
};

} // namespace troupe::digits
