#pragma once

#include <vector>

#include "examples/digits/device_network.hpp"
#include "examples/digits/pipeline_step.hpp"

namespace troupe::digits {

/// The pipeline before any change: every operator on its own allocates device memory, copies its
/// input there, is launched and waited for, has its output copied back, and frees the memory.
class naive_step : public pipeline_step {
public:
  explicit naive_step(const workshop& shop);

  answers run(const image_set& images) override;

private:
  void run_operator(std::size_t index);

  context context_;
  stream stream_;
  device_network net_;
  std::vector<std::vector<float>> host_; ///< one per tensor of the network
};

} // namespace troupe::digits
