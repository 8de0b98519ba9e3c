#pragma once

#include <vector>

#include "examples/digits/device_network.hpp"
#include "examples/digits/pipeline_step.hpp"

namespace troupe::digits {

/// The first change: tensors live in a memory pool of the device and stay there from operator to
/// operator. Still one stream, and one batch at a time.
class pool_step : public pipeline_step {
public:
  explicit pool_step(const workshop& shop);

  answers run(const image_set& images) override;

  [[nodiscard]] std::uint64_t pool_allocations() const override {
    return pool_.counters().allocations;
  }

private:
  context context_;
  pool pool_;
  stream stream_;
  device_network net_;
  std::vector<float> input_;
  std::vector<float> output_;
};

} // namespace troupe::digits
