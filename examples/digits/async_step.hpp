#pragma once

#include <optional>
#include <vector>

#include "examples/digits/classification.hpp"
#include "examples/digits/device_network.hpp"
#include "examples/digits/pipeline_step.hpp"

namespace troupe::digits {

/// The last change: copies no longer make the host wait. A bounded number of buffer sets is in
/// flight, each with pinned host memory and tensors of its own; while the device copies and
/// computes, the host converts the pixels of the next batch and picks classes of the oldest.
class async_step : public pipeline_step {
public:
  explicit async_step(const workshop& shop);

  answers run(const image_set& images) override;

  [[nodiscard]] std::uint64_t pool_allocations() const override {
    return pool_.counters().allocations;
  }

private:
  /// All that a batch in flight needs.
  struct buffer_set {
    stream commands; ///< shared with other sets when there are more sets than streams
    event done;
    host_buffer<float> input;
    host_buffer<float> output;
    std::vector<pool_buffer<float>> tensors;
    std::optional<std::size_t> batch;
  };

  /// Submits copy in, operators and copy out of the set's next batch; returns at once.
  void submit(buffer_set& set);

  /// Waits for the set's batch, if it has one, and takes its answers.
  static void collect(buffer_set& set, classification& result);

  context context_;
  pool pool_;
  device_network net_;
  std::vector<buffer_set> sets_;
};

} // namespace troupe::digits
