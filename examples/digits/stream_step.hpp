#pragma once

#include <optional>
#include <vector>

#include "examples/digits/classification.hpp"
#include "examples/digits/device_network.hpp"
#include "examples/digits/pipeline_step.hpp"

namespace troupe::digits {

/// The second change: batches go round several streams, one batch on each, so that the device's
/// compute engines work side by side. Copies still make the host wait.
class stream_step : public pipeline_step {
public:
  explicit stream_step(const workshop& shop);

  answers run(const image_set& images) override;

  [[nodiscard]] std::uint64_t pool_allocations() const override {
    return pool_.counters().allocations;
  }

private:
  /// A stream with the batch it works on.
  struct lane {
    stream commands;
    std::vector<float> input;
    std::vector<float> output;
    pool_buffer<float> scores;
    std::optional<std::size_t> batch;
  };

  /// Waits for the lane's batch, if it has one, and takes its answers.
  static void collect(lane& from, classification& result);

  context context_;
  pool pool_;
  device_network net_;
  std::vector<lane> lanes_;
};

} // namespace troupe::digits
