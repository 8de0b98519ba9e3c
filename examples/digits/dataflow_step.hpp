#pragma once

#include <optional>
#include <vector>

#include <troupe/operators/dataflow.hpp>

#include "examples/digits/classification.hpp"
#include "examples/digits/operator_network.hpp"
#include "examples/digits/pipeline_step.hpp"

namespace troupe::digits {

/// The other way to keep a device busy: operators are submitted with the tensors they read and
/// write, and the runtime finds out what may run at once. A bounded number of batches is in flight.
class dataflow_step : public pipeline_step {
public:
  explicit dataflow_step(const workshop& shop);

  answers run(const image_set& images) override;

  [[nodiscard]] std::uint64_t pool_allocations() const override {
    return flow_.memory().allocations;
  }

private:
  /// A batch in flight: what it reads, and what it will give.
  struct place {
    tensor images;
    tensor probabilities;
    std::optional<std::size_t> batch;
  };

  void submit(place& at, std::size_t batch);

  /// Waits for the place's batch, if it has one, and takes its answers.
  void collect(place& from, classification& result);

  context context_;
  operator_network net_;
  dataflow flow_;
  std::vector<float> input_;
  std::vector<float> output_;
  std::vector<place> places_;
};

} // namespace troupe::digits
